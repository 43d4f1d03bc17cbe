// The credits of one call whose run takes them itself, in the transaction that reserves its attempt. The call path asks
// afterwards: a run that ended well without taking them, or saying why not, is not answered.
import { gatewayFault } from './errors.ts'
import { type CreditsPrice, creditWords } from './price.ts'

/** The charge that a handler hands to the engine that makes its attempt. */
export interface CreditCharge {
  readonly credits: number
  /**
   * Said once, when the transaction that took the credits is committed.
   * @param reference the attempt or claim that they were taken for
   * @throws {GatewayError} internal when they were taken before, or are others than the price says
   */
  taken(credits: number, reference: string): void
  /**
   * What was taken was given back, and the call begins anew.
   * @throws {GatewayError} internal when nothing was taken
   */
  returned(): void
  /**
   * Nothing is taken, because the call is a repeat under its idempotency key and the first one paid.
   * @param reference the attempt that was made then
   */
  repeated(reference: string): void
  /** Nothing is taken this time, and why; the price has an allowance. @throws {GatewayError} internal without one */
  waived(reason: string): void
  /** Tells whoever waits what the attempt does now. */
  tell(message: string): void
}

export interface WatchedCharge extends CreditCharge {
  /** @returns the attempt that took the credits; undefined where none did */
  findReference(): string | undefined
  /** Says what is missing after a run that ended well; undefined when nothing is. */
  findMissing(): string | undefined
}

/**
 * Watches that a run takes exactly the credits of its price, once, or says why it took none.
 * @param tell told of its steps, the taking first
 */
export function createCreditCharge(
  { credits, taken }: CreditsPrice,
  tell: (message: string) => void = () => {},
): WatchedCharge {
  let reference: string | undefined
  let waiver: string | undefined
  return {
    credits,
    // A method: V8 keeps what a getter in a literal closes over, here the whole call, until it next collects everything.
    findReference: () => reference,
    taken(count, by) {
      if (reference !== undefined || waiver !== undefined) throw gatewayFault('a charge is taken once')
      if (count !== credits) throw gatewayFault(`${count} credits were taken, and the price is ${credits}`)
      reference = by
      tell(`${creditWords(credits)} taken; the work begins`)
    },
    returned() {
      if (reference === undefined) throw gatewayFault('nothing was taken that could be given back')
      reference = undefined
      tell(`${creditWords(credits)} given back; the work begins anew`)
    },
    repeated(by) {
      if (reference !== undefined) throw gatewayFault('a repeat is not charged')
      waiver = `repeat of ${by}`
    },
    waived(reason) {
      if (taken !== 'allowance')
        throw gatewayFault(`not taken (${reason}): only a price \`after: 'allowance'\` may be waived`)
      if (reference !== undefined) throw gatewayFault(`waived (${reason}) after it was taken`)
      waiver = reason
    },
    tell,
    findMissing() {
      if (reference !== undefined || waiver !== undefined) return undefined
      return 'the run took no charge: hand `context.charge` to the engine that reserves its attempt'
    },
  }
}
