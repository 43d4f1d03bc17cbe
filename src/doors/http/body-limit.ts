// How large a body may be, by who sends it. Strangers need no token to begin one, so what they may send is what the largest tool for
// everybody takes; whoever sends more is found out first.
import type { IncomingMessage } from 'node:http'
import type { PresentedTokens } from '../../core/authenticate.ts'
import type { CallPath } from '../../core/call.ts'
import type { GatewayError } from '../../core/errors.ts'
import type { AnyTool, DoorName, Registry } from '../../core/registry.ts'
import { type JsonReading, tooLarge } from './body.ts'
import { announcedBytes, LARGE_BYTES } from './request.ts'

/** Contract, section 9: 256 KiB unless a tool says otherwise. */
export const USUAL_LIMIT_BYTES = 256 * 1024
/** What stands around a tool's input in a message: the envelope, a payment, metadata. */
const ENVELOPE_BYTES = 64 * 1024

export interface Sender {
  readonly tokens: PresentedTokens
  readonly address: string
}

/** Most bytes of a message that may call any of these tools: as many as the one that takes most. */
export const messageLimit = (tools: readonly Pick<AnyTool, 'maxBodyBytes'>[]): number =>
  Math.max(USUAL_LIMIT_BYTES, ...tools.map(({ maxBodyBytes }) => maxBodyBytes))

/** How a message is read that may call any tool of a door: which one it calls is known only then. */
export interface MessageReading extends JsonReading {
  /** Bytes of a large message, once it has arrived. */
  readonly size?: number
}
export type ReadingOf = (req: IncomingMessage, sender: Sender) => MessageReading | Promise<MessageReading>

/** @returns tells how messages of a door are read. It throws {GatewayError} key_invalid, capability_invalid, rate_limited */
export function createMessageReading(
  { registry, calls }: { readonly registry: Registry; readonly calls: CallPath },
  door: DoorName,
  maxDepth?: number,
): ReadingOf {
  const tools = registry.tools.map(({ tool }) => tool).filter(({ doors }) => doors.includes(door))
  const mostBytes = messageLimit(tools)
  const publicBytes = messageLimit(tools.filter(({ caller }) => caller === 'anyone'))
  const small: MessageReading = { maxBytes: publicBytes, maxDepth }

  async function readingOf({ tokens, address }: Sender, announced: number): Promise<MessageReading> {
    const isKnown = await calls.isKnown(tokens, address)
    // One in chunks may be small.
    if (Number.isFinite(announced)) await calls.refuseSpentMessage(address, isKnown)
    const reading = {
      maxBytes: isKnown ? mostBytes : publicBytes,
      maxDepth,
      address,
      size: 0,
      async arrived(bytes: number) {
        reading.size = bytes
        if (bytes > LARGE_BYTES) await calls.countLargeMessage(address, isKnown)
      },
    }
    return reading
  }

  return (req, sender) => {
    const announced = announcedBytes(req)
    return announced <= LARGE_BYTES ? small : readingOf(sender, announced)
  }
}

/** The refusal of a message that is larger than its tool takes. Tools that take more of some callers judge that themselves. */
export function oversized(
  { maxBodyBytes, largestBody }: Pick<AnyTool, 'maxBodyBytes' | 'largestBody'>,
  bytes: number | undefined,
): GatewayError | undefined {
  if (bytes === undefined || bytes <= USUAL_LIMIT_BYTES || largestBody) return undefined
  return bytes > maxBodyBytes + ENVELOPE_BYTES ? tooLarge(maxBodyBytes) : undefined
}
