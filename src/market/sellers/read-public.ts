// Reads one small public text: canonical target, one resolution, vetted addresses, no redirect, no credential.
import { parseTarget } from '../../egress/target.ts'
import type { Sender } from '../../egress/ports.ts'
import { decodeResponse, sendPublic } from '../../outbound/public-request.ts'
import type { Targets } from '../../outbound/targets.ts'
import { GatewayError } from '../../core/errors.ts'
import { decodeUtf8 } from '../../lib/utf8.ts'
import type { PublicRead, ReadPublic } from './ports.ts'

const USER_AGENT = 'agent-gateway/5 (marketplace)'

export interface ReadPublicParts {
  readonly targets: Pick<Targets, 'inspect'>
  readonly sender: Pick<Sender, 'send'>
  readonly egressPorts: readonly number[]
  readonly allowSandboxName: boolean
  readonly now: () => number
}

const blocked = (reason: string): PublicRead => ({ ok: false, kind: 'blocked', reason })
const failed = (reason: string): PublicRead => ({ ok: false, kind: 'failed', reason })

/** @returns a reader that bounds what is read, by time and by bytes */
export function createReadPublic(parts: ReadPublicParts): ReadPublic {
  const { targets, sender, egressPorts, allowSandboxName, now } = parts
  return async (text, { timeoutMs, maxBytes }) => {
    const startedAt = now()
    const verdict = parseTarget(text, { ports: egressPorts, allowSandboxName })
    if (!verdict.ok) return blocked(verdict.reason)
    try {
      const resolution = await targets.inspect({ host: verdict.host, blocked: undefined }, timeoutMs)
      if (!resolution.ok)
        return resolution.code === 'target_blocked' ? blocked(resolution.reason) : failed(resolution.reason)
      const sent = await sendPublic(sender, {
        method: 'GET',
        url: verdict.url,
        addresses: resolution.addresses,
        accept: 'application/json, text/plain, */*;q=0.5',
        userAgent: USER_AGENT,
        partition: 'market sellers',
        timeoutMs: Math.max(1, timeoutMs - (now() - startedAt)),
        maxBytes,
      })
      if (!sent.ok) return failed(sent.reason)
      const { decoded } = await decodeResponse(sent.response, maxBytes)
      if (!decoded.ok) return failed('undecodable')
      const content = decodeUtf8(decoded.body)
      if (content === undefined && sent.response.status === 200) return failed('not_utf8')
      return {
        ok: true,
        status: sent.response.status,
        text: content ?? '',
        isCut: sent.response.isCut === true || decoded.isCut,
      }
    } catch (thrown) {
      if (thrown instanceof GatewayError) return failed(thrown.code)
      throw thrown
    }
  }
}
