// The paid fetch of one public URL, as handlers see it. Types only.
import type { WebFetchResult } from '../../schemas/web-fetch.ts'
import type { Terms } from '../core/charging.ts'
import type { Progress } from '../core/progress.ts'

/** Paid fetch of one public HTTPS URL, with what comes before it. */
export interface WebFetch {
  /** GET /v1/pricing. */
  pricing(): Promise<Record<string, unknown>>
  /**
   * One of the seven shapes -> signed quote, stored.
   * @throws {GatewayError} input_*, target_invalid, target_blocked, tool_unavailable, payments_unavailable
   */
  quote(input: unknown): Promise<Record<string, unknown>>
  /** Opens no connection to the target; what stands in the way is a finding. @throws {GatewayError} input_*, target_invalid */
  preflight(input: unknown): Promise<Record<string, unknown>>
  /**
   * A fetch, understood once: price, binding, and the fetch itself.
   * @throws {GatewayError} input_*, target_invalid, target_blocked, tool_unavailable
   */
  plan(input: unknown): Promise<PlannedFetch>
}

export interface PlannedFetch {
  readonly charge: Terms
  /**
   * Content and evidence, `receipt: null`. Goes on when its caller goes away.
   * @throws {GatewayError} when there is nothing to charge for: target_blocked, egress_paused, upstream_unreachable,
   * response_unacceptable
   */
  run(context: {
    readonly requestId: string
    readonly progress?: Progress | undefined
  }): Promise<WebFetchResult>
}
