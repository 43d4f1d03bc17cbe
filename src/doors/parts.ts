// Every door is given these parts. Doors translate wire formats; every decision is in the call path behind them.
import type { KeyObject } from 'node:crypto'
import type { CallPath } from '../core/call.ts'
import type { Config } from '../core/config.ts'
import type { Logger } from '../lib/log.ts'
import type { PaymentGate } from '../core/charging.ts'
import type { RefusalWatch } from '../core/refusal-watch.ts'
import type { Registry } from '../core/registry.ts'
import type { SkillDocument } from '../documents/skills.ts'
import type { Documents, Services } from '../../tools/services.ts'
import type { PaymentPayloadV2, PaymentRequired } from '../../schemas/x402.ts'
import type { Marketplace } from '../market/listings/ports.ts'
import type { Identity } from '../identity/index.ts'
import type { WebhookSender } from '../outbound/webhook.ts'
import type { Signer } from '../receipts/ports.ts'
import type { Store } from '../store/ports.ts'
import type { Addresses } from '../core/config.ts'

export interface DoorParts {
  readonly registry: Registry
  readonly calls: CallPath
  /** Tells what became of payments that were not decided when their call ended. */
  readonly payments: Pick<PaymentGate, 'outcome'>
  readonly config: Config
  readonly addresses: Addresses
  readonly documents: Documents
  /** What handlers of tools reach, for pages that show what tools would answer. */
  readonly services: Services
  /** Goals that are reached with several tools; none where the package came without its folder. */
  readonly skills?: readonly SkillDocument[]
  /** What sellers offer, for their documents; without a market there are none. */
  readonly marketplace?: Pick<Marketplace, 'sold' | 'ofSeller'>
  /** People who sign in, and the assistants that they connect. */
  readonly identity: Identity
  readonly store: Store
  /** The way to those who asked to be told; a door that is opened without one tells nobody. */
  readonly webhooks?: WebhookSender
  /** Told of what a door refuses by itself, in front of the call path. */
  readonly refusals: RefusalWatch
  readonly signer: Signer
  /** Keys for uses inside a door, each bound to its purpose. */
  readonly deriveKey: (purpose: string) => KeyObject
  /** Pays in the name of who tries something in a browser; there is one in a sandbox alone. */
  readonly testWallet?: TestWallet
  /** Measures how messages of MCP are answered; where there is none, they are just answered. */
  readonly observeMessage?: ObserveMessage
  readonly log: Logger
  readonly now: () => number
}

/**
 * Runs the answer to one request of MCP.
 * @param message its method, and the name of the tool that it calls, both as they were sent
 */
export type ObserveMessage = (
  message: { readonly method: unknown; readonly name: unknown },
  answer: () => Promise<void>,
) => Promise<void>

export interface TestWallet {
  /**
   * Pays what a 402 of this gateway asks for with test money.
   * @throws {GatewayError} payment_invalid where it asks for anything else
   */
  pay(required: PaymentRequired): Promise<PaymentPayloadV2>
}
