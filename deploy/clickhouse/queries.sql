-- Queries for ClickHouse. In Grafana, $installation is a variable of the dashboard, and the plugin replaces the macros.

-- Speed of a wheel.
SELECT $__timeInterval(observed_at) AS time, max(speed_mm_per_second) / 1000 AS "m/s"
FROM readings
WHERE installation_id = '$installation' AND $__timeFilter(observed_at)
GROUP BY time ORDER BY time;

-- Work of each half hour, and how much of it was observed.
SELECT start AS time, toFloat64(work_units) AS work, observed_round_count / 3 AS observed
FROM half_hour_buckets
WHERE installation_id = '$installation' AND $__timeFilter(start)
ORDER BY time;

-- Amount minted on each day, exact to the digit.
SELECT toDate(block_timestamp) AS day, sum(amount_base_units) AS base_units
FROM checkpoints GROUP BY day ORDER BY day;
