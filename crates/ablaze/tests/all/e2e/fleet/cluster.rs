//! A fleet on a real control plane of Kubernetes: etcd, kube-apiserver, kube-controller-manager and kube-scheduler on loopback,
//! and kwok, whose nodes are made up and whose `exec` really runs the command. Whoever runs the load may do what docs/fleet.md
//! says it has to, and nothing else. Whoever wants this tested has the programs on the PATH: `.ci/kubernetes FOLDER` makes them of
//! their Go modules.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ablaze_testing::skip::installed_by_hand;
use ablaze_testing::{Bounded, Ran, Running, Scratch, ports, repository};

use super::coordinator;
use crate::e2e::support::{eventually, number, run, serve, start, url};

/// What kwok makes of pods, beside its nodes: they run until they are deleted, and what is executed in them runs here.
const KWOK: &str = r#"apiVersion: kwok.x-k8s.io/v1alpha1
kind: ClusterExec
metadata: {name: here}
spec: {execs: [{local: {workDir: FOLDER, envs: [{name: TMPDIR, value: FOLDER}]}}]}
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: pod-ready}
spec:
  resourceRef: {apiGroup: v1, kind: Pod}
  selector:
    matchExpressions:
    - {key: .metadata.deletionTimestamp, operator: DoesNotExist}
    - {key: .status.podIP, operator: DoesNotExist}
  next:
    statusTemplate: |
      containerStatuses:
      {{ range .spec.containers }}
      - {image: {{ .image | Quote }}, name: {{ .name | Quote }}, ready: true, restartCount: 0, state: {running: {startedAt: {{ Now | Quote }}}}}
      {{ end }}
      hostIP: {{ NodeIPWith .spec.nodeName | Quote }}
      podIP: {{ PodIPWith .spec.nodeName false ( or .metadata.uid "" ) ( or .metadata.name "" ) ( or .metadata.namespace "" ) | Quote }}
      phase: Running
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: pod-delete}
spec:
  resourceRef: {apiGroup: v1, kind: Pod}
  selector: {matchExpressions: [{key: .metadata.deletionTimestamp, operator: Exists}]}
  next: {finalizers: {empty: true}, delete: true}
"#;

/// The controllers that Jobs need, and what takes taints from nodes that are ready.
const CONTROLLERS: &str = "job-controller,garbage-collector-controller,ttl-after-finished-controller,\
     serviceaccount-controller,node-lifecycle-controller";

/// A cluster of this test's own.
struct Cluster {
    folder: Scratch,
    programs: Vec<Running>,
    /// Where kwok's nodes are to be reached.
    kubelet: u16,
}

impl Cluster {
    /// Starts one with two nodes; `None`, and said so, where a part of it is not installed.
    fn start(name: &str) -> Option<Self> {
        let names = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok"];
        let paths = names.map(installed_by_hand).into_iter().collect::<Option<Vec<PathBuf>>>()?;
        installed_by_hand("kubectl")?;
        let mut cluster =
            Self { folder: Scratch::new(name), programs: Vec::new(), kubelet: ports::free() };
        cluster.write_keys();
        let (etcd, api) = (ports::free(), ports::free());
        cluster.write_configurations(api);
        let (etcd, server) = (cluster.of_etcd(etcd), cluster.of_api_server(etcd, api));
        cluster.run(&paths[0], &etcd);
        cluster.run(&paths[1], &server);
        let is_ready = || cluster.admin(&["get", "--raw", "/readyz"], "").status == 0;
        assert!(eventually(is_ready), "{}", cluster.folder.read("kube-apiserver.log"));
        let mut manager = cluster.of_controller();
        manager.push(format!("--controllers={CONTROLLERS}"));
        manager.push(format!("--service-account-private-key-file={}", cluster.folder.file("key")));
        cluster.run(&paths[2], &manager);
        let (scheduler, kwok) = (cluster.of_controller(), cluster.of_kwok());
        cluster.run(&paths[3], &scheduler);
        cluster.run(&paths[4], &kwok);
        cluster.be_schedulable();
        Some(cluster)
    }

    /// A key, which is that of service accounts and of kwok's nodes.
    fn write_keys(&self) {
        let key = rcgen::KeyPair::generate().unwrap();
        let own = rcgen::CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
        self.folder.write("key", key.serialize_pem());
        self.folder.write("key.pub", key.public_key_pem());
        self.folder.write("kwok.crt", own.self_signed(&key).unwrap().pem());
    }

    fn write_configurations(&self, api: u16) {
        for user in ["admin", "load"] {
            let server = format!("https://127.0.0.1:{api}");
            let config = format!(
                "apiVersion: v1\nkind: Config\ncurrent-context: c\n\
                 clusters: [{{name: c, cluster: {{server: \"{server}\", insecure-skip-tls-verify: true}}}}]\n\
                 users: [{{name: u, user: {{token: {user}-token}}}}]\n\
                 contexts: [{{name: c, context: {{cluster: c, user: u, namespace: default}}}}]\n"
            );
            self.folder.write(&format!("{user}.conf"), config);
        }
        self.folder.write("tokens", "admin-token,admin,1,\"system:masters\"\nload-token,load,2\n");
        let folder = self.folder.path().display().to_string();
        self.folder.write("kwok.yaml", KWOK.replace("FOLDER", &folder));
    }

    fn of_etcd(&self, port: u16) -> Vec<String> {
        let (clients, peers) = (url_of(port), url_of(ports::free()));
        vec![
            format!("--data-dir={}", self.folder.file("etcd")),
            format!("--listen-client-urls={clients}"),
            format!("--advertise-client-urls={clients}"),
            format!("--listen-peer-urls={peers}"),
            format!("--initial-advertise-peer-urls={peers}"),
            format!("--initial-cluster=default={peers}"),
        ]
    }

    fn of_api_server(&self, etcd: u16, port: u16) -> Vec<String> {
        vec![
            format!("--etcd-servers={}", url_of(etcd)),
            format!("--secure-port={port}"),
            "--bind-address=127.0.0.1".to_owned(),
            "--endpoint-reconciler-type=none".to_owned(),
            format!("--cert-dir={}", self.folder.file("api")),
            "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
            format!("--service-account-key-file={}", self.folder.file("key.pub")),
            format!("--service-account-signing-key-file={}", self.folder.file("key")),
            "--service-cluster-ip-range=10.0.0.0/24".to_owned(),
            "--authorization-mode=RBAC".to_owned(),
            "--kubelet-preferred-address-types=InternalIP".to_owned(),
            format!("--token-auth-file={}", self.folder.file("tokens")),
        ]
    }

    /// What the controllers and the scheduler have in common.
    fn of_controller(&self) -> Vec<String> {
        let port = ports::free();
        vec![
            format!("--kubeconfig={}", self.folder.file("admin.conf")),
            "--leader-elect=false".to_owned(),
            "--bind-address=127.0.0.1".to_owned(),
            format!("--secure-port={port}"),
            format!("--cert-dir={}", self.folder.file(&format!("pki-{port}"))),
        ]
    }

    fn of_kwok(&self) -> Vec<String> {
        vec![
            format!("--kubeconfig={}", self.folder.file("admin.conf")),
            "--manage-all-nodes=true".to_owned(),
            "--node-ip=127.0.0.1".to_owned(),
            format!("--node-port={}", self.kubelet),
            format!("--server-address=127.0.0.1:{}", self.kubelet),
            format!("--tls-cert-file={}", self.folder.file("kwok.crt")),
            format!("--tls-private-key-file={}", self.folder.file("key")),
            format!("--config={}", self.folder.file("kwok.yaml")),
        ]
    }

    fn run(&mut self, program: &Path, words: &[String]) {
        let name = program.file_name().unwrap().to_string_lossy();
        let output = File::create(self.folder.file(&format!("{name}.log"))).unwrap();
        let mut command = Command::new(program);
        // kwok finds this very program as `ablaze`.
        let own = Path::new(env!("CARGO_BIN_EXE_ablaze")).parent().unwrap().display();
        command.env("PATH", format!("{own}:{}", std::env::var("PATH").unwrap_or_default()));
        command.args(words).current_dir(self.folder.path()).stdin(Stdio::null());
        command.stdout(output.try_clone().unwrap()).stderr(output);
        self.programs.push(command.start().unwrap());
    }

    /// Two nodes, and somebody who may do what docs/fleet.md says.
    fn be_schedulable(&self) {
        for name in ["n1", "n2"] {
            let metadata = format!("{{name: {name}, labels: {{kubernetes.io/hostname: {name}}}}}");
            let node = format!("apiVersion: v1\nkind: Node\nmetadata: {metadata}\n");
            let created = self.admin(&["create", "-f", "-"], &node);
            assert_eq!(created.status, 0, "{created:?}");
        }
        let created = self.admin(&["create", "-f", "-"], &rights());
        assert_eq!(created.status, 0, "{created:?}");
        let is_schedulable = || {
            let nodes = self.admin(&["get", "nodes", "-o", "json"], "").stdout;
            nodes.matches("\"containerRuntimeVersion\"").count() == 2
                && !nodes.contains("NoSchedule")
        };
        assert!(eventually(is_schedulable), "{}", self.folder.read("kwok.log"));
    }

    /// kubectl, as somebody who may do everything; `-` is a file with this input.
    fn admin(&self, words: &[&str], input: &str) -> Ran {
        let input = self.folder.write("input.yaml", input);
        let words = words.iter().map(|word| if *word == "-" { input.as_str() } else { *word });
        let mut command = Command::new("kubectl");
        run(command.args(words).env("KUBECONFIG", self.folder.file("admin.conf")))
    }

    /// ablaze, as somebody who may do what is needed.
    fn command(&self, words: &[&str]) -> Command {
        let mut command = coordinator(words);
        command.env("KUBECONFIG", self.folder.file("load.conf"));
        command
    }

    /// Whether there are no Jobs and no pods any more, within a time.
    fn is_empty(&self) -> bool {
        eventually(|| self.admin(&["get", "jobs,pods", "-o", "name"], "").stdout.is_empty())
    }
}

fn url_of(port: u16) -> String {
    format!("http://127.0.0.1:{port}")
}

/// The rights that docs/fleet.md says are needed.
fn rights() -> String {
    let page = fs::read_to_string(repository::folder().join("docs/fleet.md")).unwrap();
    let block = page.split("```yaml\n").find(|block| block.contains("kind: Role\n")).unwrap();
    block.split("```").next().unwrap().to_owned()
}

#[test]
#[ignore = "long: a control plane of Kubernetes"]
fn pods_of_a_real_cluster_share_a_load_with_the_rights_that_are_documented() {
    let Some(cluster) = Cluster::start("fleet-cluster") else { return };
    let server = serve();
    let target = url(&server, "/");
    let words = ["load", "--quiet", "--json", "--fleet", "k8s,n=2,image=i", "-n", "1001", "-c4"];
    let ran = run(&mut cluster.command(&[&words[..], &[&target]].concat()));
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(!ran.stderr.contains("was not removed"), "{ran:?}");
    assert_eq!((number(&ran.json(), "/responses"), server.served().requests), (1001, 1001));
    assert!(cluster.is_empty());
    // Three pods of which no two may share a node, on two nodes.
    let words = ["load", "--quiet", "--fleet", "k8s,n=3,image=i,wait=4s", "-d1", &target];
    let ran = run(&mut cluster.command(&words));
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(ran.stderr.contains("2 of 3 pods") && ran.stderr.contains("anti-affinity"), "{ran:?}");
    assert!(cluster.is_empty());
    // What is printed is what the API takes, and a Job that others made stays.
    let manifest = run(&mut cluster.command(&["fleet", "--print", "k8s,n=2,image=i"])).stdout;
    let created = cluster.admin(&["create", "-f", "-"], &manifest);
    assert_eq!(created.status, 0, "{created:?}");
    let words = ["load", "--quiet", "--json", "--fleet", "k8s,job=ablaze", "-n", "100", "-c2"];
    let ran = run(&mut cluster.command(&[&words[..], &[&target]].concat()));
    assert_eq!(number(&ran.json(), "/responses"), 100, "{ran:?}");
    assert!(cluster.admin(&["get", "jobs", "-o", "name"], "").stdout.contains("job.batch/ablaze"));
    assert_eq!(cluster.admin(&["delete", "job", "ablaze"], "").status, 0);
    // Ctrl-C in the middle of a run.
    let before = server.served().requests;
    let words = ["load", "--quiet", "--fleet", "k8s,n=2,image=i", "-c4", "-d60", &target];
    let child = start(&mut cluster.command(&words));
    assert!(eventually(|| server.served().requests > before + 1000), "nothing arrives");
    child.signal(rustix::process::Signal::INT);
    assert_eq!(child.end().status, 130);
    assert!(cluster.is_empty());
}
