-- What wrk counted, in numbers rather than for people.
function done(summary)
    local errors = summary.errors
    local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
    print(string.format("requests %d microseconds %d failed %d", summary.requests, summary.duration, failed))
end
