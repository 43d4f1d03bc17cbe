// A run that is only looked at: what it asks for is written down, with what a policy would have said, and nothing is refused by that policy.
import type { RuleDecision } from '../../egress/rules/rules.ts'
import type { RunPolicy } from './policy.ts'

/** A request of the run, in as many copies as it was made. */
export interface SeenInRun {
  readonly method: string
  /** `host`, or `host:port`. */
  readonly host: string
  /** Without a query. */
  readonly path: string
  readonly times: number
  /** What the policy says of it; left out where there is none. */
  readonly decision?: RuleDecision
}

export interface DryRun {
  note(request: {
    readonly method: string
    readonly host: string
    readonly port: number
    readonly path: string
  }): void
  seen(): readonly SeenInRun[]
}

/** Different requests that are kept: a run may make more, and nobody reads as many rules. */
const MOST = 10_000

export function createDryRun(policy: RunPolicy | undefined): DryRun {
  const seen = new Map<string, SeenInRun>()
  return {
    note({ method, host, port, path: raw }) {
      const [path = '/'] = raw.split('?', 1)
      const entry = port === 443 ? host : `${host}:${port}`
      const key = `${method} ${entry}${path}`
      const known = seen.get(key)
      if (known) seen.set(key, { ...known, times: known.times + 1 })
      else if (seen.size < MOST)
        seen.set(key, {
          method,
          host: entry,
          path,
          times: 1,
          ...(policy && { decision: policy.judge({ host, port, path, method }).decision }),
        })
    },
    seen: () => [...seen.values()],
  }
}
