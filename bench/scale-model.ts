// What many replicas would need of one database, from what one fetch costs here: queueing theory over measured costs, no measurement.

/** Of one fetch, as measured. */
export interface FetchCosts {
  /** CPU in milliseconds. */
  readonly gatewayMs: number
  readonly databaseMs: number
  /** Bytes of the write-ahead log, commits of the log, and rows that stay. */
  readonly walBytes: number
  readonly commits: number
  readonly rows: number
}

/** How busy a core is let become: above it every queue grows faster than the load. */
const BUSY = 0.7

/**
 * Erlang's C formula: the share of arrivals that wait for one of so many servers.
 * @param load in servers' worth of work, below `servers`
 */
export function shareThatWaits(servers: number, load: number): number {
  // Erlang B by its recursion, which stays small where factorials would not.
  let blocked = 1
  for (let k = 1; k <= servers; k++) blocked = (load * blocked) / (k + load * blocked)
  return blocked / (1 - (load / servers) * (1 - blocked))
}

/** Mean wait of an M/M/c queue, in the unit of `service`. */
export const meanWait = (servers: number, load: number, service: number): number =>
  (shareThatWaits(servers, load) * service) / (servers - load)

/** What so many replicas, a core each, do and ask of the database. */
export function demandOf(replicas: number, costs: FetchCosts) {
  const perSecond = (replicas * BUSY * 1000) / costs.gatewayMs
  const load = (perSecond * costs.databaseMs) / 1000
  const cores = Math.max(1, Math.ceil(load / BUSY))
  return {
    perSecond,
    /** Cores of the database. */
    cores,
    waitMs: meanWait(cores, load, costs.databaseMs),
    walMbPerSecond: (perSecond * costs.walBytes) / 1e6,
    commitsPerSecond: perSecond * costs.commits,
    rowsPerDay: perSecond * costs.rows * 86_400,
  }
}
