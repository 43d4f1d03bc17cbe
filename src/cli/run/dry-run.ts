// A run that is only looked at: what it asks for is written down, with what a policy would have said, and nothing is refused by that policy.
import type { RuleDecision } from '../../egress/rules/rules.ts'
import type { RunPolicy } from './policy.ts'

/** A request of the run, in as many copies as it was made. */
export interface SeenInRun {
  readonly method: string
  /** `host`, or `host:port`. */
  readonly host: string
  /** As the gateway judges it: canonical, without a query and without the segment that the secret goes into. */
  readonly path: string
  readonly times: number
  /** What the policy says of it; left out where there is none. */
  readonly decision?: RuleDecision
}

/** Requests that are counted and not kept. */
export interface OthersInRun {
  readonly times: number
  /** Those that the policy does not simply allow; none where there is no policy. */
  readonly refused: number
}

export interface SeenInAll {
  readonly requests: readonly SeenInRun[]
  /** Left out where each is kept. */
  readonly others?: OthersInRun
}

export interface DryRun {
  /** @param request with the path as the gateway judges it */
  note(request: {
    readonly method: string
    readonly host: string
    readonly port: number
    readonly path: string
  }): void
  seen(): SeenInAll
}

/** Different requests that are kept: a run may make more, and nobody reads as many rules. */
const MOST = 10_000

export function createDryRun(policy: RunPolicy | undefined): DryRun {
  const seen = new Map<string, SeenInRun>()
  const others = { times: 0, refused: 0 }
  return {
    note({ method, host, port, path: raw }) {
      const [path = '/'] = raw.split('?', 1)
      const entry = port === 443 ? host : `${host}:${port}`
      const key = `${method} ${entry}${path}`
      const known = seen.get(key)
      if (known) return void seen.set(key, { ...known, times: known.times + 1 })
      const decision = policy?.judge({ host, port, path, method }).decision
      if (seen.size < MOST)
        return void seen.set(key, { method, host: entry, path, times: 1, ...(decision && { decision }) })
      others.times++
      if (decision !== undefined && decision !== 'allow') others.refused++
    },
    seen: () => ({ requests: [...seen.values()], ...(others.times > 0 && { others: { ...others } }) }),
  }
}
