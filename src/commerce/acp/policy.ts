// ACP: what the policy has to know of it.
import type { ProtocolPolicy } from '../protocol.ts'
import type { AcpFacts } from './facts.ts'
import { judgeAcp } from './judge.ts'
import { demandsKey } from './key.ts'

/** Header fields that ACP demands or recommends: where none is there, a body was shown without them. */
const FIELDS = ['api-version', 'authorization', 'idempotency-key', 'request-id', 'signature', 'timestamp']

export const policy: ProtocolPolicy<AcpFacts> = {
  pricedStages: new Set(['delegate', 'checkout.complete', 'authentication.create']),
  credentialKind: 'payment_token',
  /** The authentication of a card's holder moves no money. */
  spendStages: new Set(['delegate', 'checkout.complete']),
  describeSpend: ({ facts: { allowance, sessionId } }) => {
    const session = allowance?.sessionId ?? sessionId
    return session === null ? {} : { mandate: `acp ${session.value}` }
  },
  judge: judgeAcp,
  /**
   * Two messages are made to be sent a card by its own number: a delegated payment, and the authentication of its holder, which
   * needs no verification code.
   */
  findCard: ({ layer: { document }, facts: { resource, operation, answer } }) => {
    if (document === undefined || answer !== null) return undefined
    if (operation === 'delegate') return `${document.at}/payment_method/`
    return resource === 'authentication' && operation === 'create'
      ? `${document.at}/payment_method/number`
      : undefined
  },
  needsWindow: ({ facts }) => facts.operation === 'delegate',
  /** Tolerance of a receiver for the time in a webhook's signature. */
  listExpiries: ({ facts: { merchantSignature } }) => {
    const signed = merchantSignature?.timestamp ?? null
    return [signed && { value: signed.value + 300, at: signed.at }]
  },
  listAddresses: ({ facts }) => [facts.authenticated?.notificationUrl ?? null],
  /** What replaces a whole, and what goes on with a session that is there, may be sent twice. */
  isRisky: ({ layer, facts: { resource, operation } }) => {
    if (layer.transport === 'mcp') return operation === 'create' || operation === 'complete'
    return (resource === 'feed' && operation === 'update') || operation === 'authenticate' ? false : undefined
  },
  demandsKey: ({ layer, facts, reading: { message } }) => {
    // Its binding to MCP recommends the key.
    if (layer.transport !== 'rest' || !demandsKey(facts, message.method)) return undefined
    return FIELDS.some((name) => message.header(name) !== undefined)
      ? 'ACP demands an Idempotency-Key on every POST, and there is none.'
      : undefined
  },
}
