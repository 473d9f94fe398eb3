# A small image with ablaze alone. `docker build -t ablaze .`, then `docker run --rm --network host ablaze demo`.
#
# io_uring: the default seccomp profiles of Docker (since 25) and containerd forbid it. ablaze then uses epoll and says so in
# its report; to permit it, run with a profile that allows io_uring_setup, io_uring_enter and io_uring_register
# (`--security-opt seccomp=FILE`). Figures from behind a bridge network include the bridge: use `--network host`.

FROM rust:1.95-bookworm AS build
WORKDIR /source
COPY . .
# A build context has no .git where .dockerignore leaves it out: --build-arg COMMIT=$(git rev-parse --short=12 HEAD).
ARG COMMIT=
RUN ABLAZE_COMMIT=$COMMIT cargo build --profile dist --locked -p ablaze

# glibc, libgcc and certificates, no shell; user 65532.
FROM gcr.io/distroless/cc-debian12:nonroot
COPY --from=build /source/target/dist/ablaze /usr/bin/ablaze
USER 65532:65532
WORKDIR /work
ENTRYPOINT ["/usr/bin/ablaze"]
CMD ["--help"]
