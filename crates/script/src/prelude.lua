-- The table `wrk` as scripts find it. Written from wrk's documentation (SCRIPTING); what it needs of the outside
-- (lookup, connect) and what it knows of the command line are set by the program.

local wrk = { scheme = "http", host = "localhost", method = "GET", path = "/", headers = {} }

function wrk.resolve(host, service)
   local reachable = {}
   for _, address in ipairs(wrk.lookup(host, service)) do
      if wrk.connect(address) then reachable[#reachable + 1] = address end
   end
   wrk.addrs = reachable
end

function wrk.setup(thread)
   thread.addr = wrk.addrs[1]
   if type(setup) == "function" then setup(thread) end
end

function wrk.init(args)
   if not wrk.headers["Host"] then
      local host = wrk.host
      if host:find(":", 1, true) then host = "[" .. host .. "]" end
      if wrk.port then host = host .. ":" .. wrk.port end
      wrk.headers["Host"] = host
   end
   if type(init) == "function" then init(args) end
   local constant = wrk.format()
   function wrk.request() return constant end
end

local concat, tostring = table.concat, tostring

function wrk.format(method, path, headers, body)
   headers, body = headers or wrk.headers, body or wrk.body
   -- The caller's table gets both fields, as in wrk.
   if not headers["Host"] then headers["Host"] = wrk.headers["Host"] end
   headers["Content-Length"] = body and string.len(body)
   local parts = { tostring(method or wrk.method), " ", tostring(path or wrk.path), " HTTP/1.1\r\n" }
   local n = 4
   for name, value in pairs(headers) do
      parts[n + 1], parts[n + 2], parts[n + 3], parts[n + 4] = name, ": ", tostring(value), "\r\n"
      n = n + 4
   end
   parts[n + 1], parts[n + 2] = "\r\n", body or ""
   return concat(parts)
end

return wrk
