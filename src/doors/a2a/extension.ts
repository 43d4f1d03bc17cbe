// Behaviour that a test adds to the A2A door, such as what the compatibility kit asks for. The product itself has none.
import type { SendRequest } from './envelope.ts'
import type { Work } from './work.ts'

export interface A2aExtension {
  /** Undefined when the message asks for nothing of its own. */
  workFor(request: SendRequest): Work | undefined
  /** A client that names no version is given the pure 1.0 card: the kit accepts no other. */
  readonly unversionedCard: 'v1'
}
