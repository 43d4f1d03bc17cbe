// Messages of an upstream on their way to the program: each is searched together with what went before it, and one whose end might be the
// beginning of the secret waits for a moment for what follows.
import type { LeakVerdict } from '../../leak/inspection.ts'
import type { Scanner } from '../scanner.ts'
import type { Message } from './frames.ts'

/** A secret in several messages comes in one go; a message whose end is one by chance is not to wait for ever. */
export const HOLD_MS = 1_000
const MOST_HELD = 256

export type Passed =
  | { readonly ok: true; readonly messages: readonly Message[]; readonly isHolding: boolean }
  | Exclude<LeakVerdict, { ok: true }>

export interface Releases {
  /** @returns the messages that may go on now */
  push(message: Message): Promise<Passed>
  /** Those that waited: nothing followed. */
  rest(): readonly Message[]
}

export function createReleases(scanner: Scanner): Releases {
  let held: Message[] = []
  const takeAll = (): readonly Message[] => {
    const messages = held
    held = []
    return messages
  }

  return {
    async push(message) {
      const scanned = await scanner.push(message.bytes, true)
      if (!scanned.ok) return scanned
      let beginning = await scanner.beginning()
      held.push(message)
      if (beginning === 0 || held.length > MOST_HELD)
        return { ok: true, messages: takeAll(), isHolding: false }
      // Those wait in which it stands, and no others.
      let from = held.length
      while (from > 0 && beginning > 0) beginning -= held[--from]?.bytes.length ?? 0
      const messages = held.slice(0, from)
      held = held.slice(from)
      return { ok: true, messages, isHolding: held.length > 0 }
    },
    rest: takeAll,
  }
}
