-- Sends requests in batches of the depth given after `--`, one write each, as ablaze --pipeline.
init = function(arguments)
  local depth = tonumber(arguments[1]) or 16
  local one = wrk.format()
  batch = string.rep(one, depth)
end

request = function()
  return batch
end
