// Somebody else's facilitator over HTTP.
import type { Upstream } from '../ports.ts'
import { stub } from '../stub.ts'

export interface HttpUpstreamOptions {
  readonly url: string
  /** PEM of authorities trusted besides the default ones. */
  readonly ca?: readonly string[] | undefined
  readonly now: () => number
}

export function createHttpUpstream(_options: HttpUpstreamOptions): Upstream {
  return stub('createHttpUpstream')
}
