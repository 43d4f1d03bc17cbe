// Posts to an address that a stranger named, for whoever tells strangers things: the same vetting for all of them. The address is looked
// at again at every try, since a name may lead elsewhere by then; redirects are not followed; what comes back is a status and no more.
import type { Sender } from '../egress/ports.ts'
import { parseTarget, type TargetOptions } from '../egress/target.ts'
import { GatewayError } from '../core/errors.ts'
import { Secret } from '../lib/secret.ts'
import type { Targets } from './targets.ts'

/** Time for the name, and for the exchange. */
export const WEBHOOK_MS = 10_000
const MAX_ANSWER_BYTES = 16 * 1024

export interface WebhookRequest {
  readonly url: string
  /** Lower-case names. Some may be the receiver's secret: they stand in no log. */
  readonly headers: readonly (readonly [string, string])[]
  readonly body: string
  /** Whoever these connections belong to: nobody else's requests travel on them. */
  readonly partition: string
  readonly signal?: AbortSignal
}

export interface WebhookSender {
  /**
   * Judges an address as far as it can be told without DNS.
   * @returns host and port, as receivers are told apart
   * @throws {GatewayError} target_invalid, target_blocked, egress_paused
   */
  check(url: string): Promise<string>
  /** Never throws. @returns undefined where it was answered with 2xx; else a word for why not */
  post(request: WebhookRequest): Promise<string | undefined>
}

export function createWebhookSender(parts: {
  readonly sender: Pick<Sender, 'send'>
  readonly targets: Pick<Targets, 'inspect' | 'check'>
  readonly target: TargetOptions
}): WebhookSender {
  const { sender, targets, target } = parts

  return {
    async check(url) {
      const verdict = parseTarget(url, target)
      if (!verdict.ok) throw new GatewayError(verdict.code, verdict.detail, { reason: verdict.reason })
      await targets.check({ host: verdict.host, blocked: undefined })
      return `${verdict.host}:${verdict.port}`
    },

    async post({ url, headers, body, partition, signal }) {
      const verdict = parseTarget(url, target)
      if (!verdict.ok) return verdict.reason
      const resolution = await targets.inspect({ host: verdict.host, blocked: undefined }, WEBHOOK_MS)
      if (!resolution.ok) return resolution.reason
      const sent = await sender.send({
        method: 'POST',
        url: verdict.url,
        addresses: resolution.addresses,
        headers: new Secret(headers),
        body: Buffer.from(body),
        partition,
        timeoutMs: WEBHOOK_MS,
        maxResponseBytes: MAX_ANSWER_BYTES,
        overflow: 'cut',
        acceptsEncoded: true,
        signal,
      })
      if (!sent.ok) return sent.reason
      const { status } = sent.response
      return status >= 200 && status <= 299 ? undefined : `status_${status}`
    },
  }
}
