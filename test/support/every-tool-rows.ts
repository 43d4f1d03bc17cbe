// One row a tool: an input that works, and with whose token. What a call uses up is made in the row, so that each door gets its own.
import { tools } from '../../tools/index.ts'
import { requirementsOf, signPayment } from './chain.ts'
import { type EveryToolWorld, serviceOf } from './every-tool-world.ts'
import { SELLER } from './market-seller.ts'
import { signIn } from './people.ts'
import { ownerships, registerSeller, sellerAccount } from './onboarding.ts'
import { at, type Json } from './tree.ts'

export interface Prepared {
  readonly input: Json
  /** The operator's key unless said otherwise; '' is none. */
  readonly token?: string
  /** The call is answered with a price, and is made again with its payment. */
  readonly isPaid?: boolean
  /** A payment that is shown, and pays for nothing. */
  readonly payment?: Json
  /** Members that make the input one that is refused; an unknown one unless said otherwise. */
  readonly wrong?: Json
}
export type Row = (world: EveryToolWorld) => Prepared | Promise<Prepared>

const PAGE = 'https://sandbox.agent-gateway.test/tea/one'
const given =
  (input: Json = {}, more: Omit<Prepared, 'input'> = {}): Row =>
  () => ({ input, ...more })
const stranger = (input: Json = {}): Row => given(input, { token: '' })
const bought = (input: Json): Row => given(input, { token: '', isPaid: true })

/** The first example of the tool, which works as it stands. */
const example = (name: string): Row => {
  const [first] = tools.find((tool) => tool.name === name)?.examples ?? []
  return stranger(first?.input as Json)
}
const custom = {
  provider: 'custom',
  label: 'of a row',
  secret: 'upstream-secret-2',
  hosts: ['api.example.com'],
  path_prefixes: ['/'],
  methods: ['GET'],
}
const credential = async ({ rest }: EveryToolWorld) =>
  (await rest('POST', '/v1/egress/credentials', custom))['credential_id'] as string
const onCredential =
  (more: Json = {}): Row =>
  async (world) => ({ input: { credential_id: await credential(world), ...more } })
const issued = async ({ rest, credentialId }: EveryToolWorld) =>
  rest('POST', '/v1/egress/capabilities', { credential_id: credentialId })

/** A permit that waits for a person. */
const pending: Row = async ({ actions }) => {
  const { permit_id } = await actions.prepare(actions.request(), actions.mandate({ requires_approval: true }))
  return { input: { permit_id } }
}
const asSeller =
  (input: (world: EveryToolWorld) => Json | Promise<Json> = () => ({})): Row =>
  async (world) => ({ input: await input(world), token: world.sellerKey })
const newSeller = async (world: EveryToolWorld) => {
  const seller = `shop-${world.next()}`
  return { seller, key: await registerSeller(world.gw, seller) }
}
const newService = async ({ rest, next, origin, sellerKey }: EveryToolWorld) => {
  const service_id = `weather-${next()}`
  await rest('POST', '/v1/marketplace/seller/services', serviceOf(service_id, origin), sellerKey)
  return service_id
}
const facilitated: Row = async ({ chain }) => {
  const paymentRequirements = {
    ...requirementsOf(chain, '10000'),
    payTo: '0x0000000000000000000000000000000000C0FFEE',
  }
  const paymentPayload = await signPayment({
    account: chain.payers[1]!,
    requirements: paymentRequirements,
  })
  // It takes members that it does not know: sellers send what their own version has.
  const input = { x402Version: 2, paymentPayload, paymentRequirements } as Json
  return { input, token: '', wrong: { x402Version: 'two' } }
}
/** A signing key that signs no more. */
const retired: (more?: Json) => Row =
  (more = {}) =>
  async ({ rest }) => {
    await rest('POST', '/v1/signing-keys/rotate', {})
    const { keys } = (await rest('GET', '/v1/signing-keys')) as { keys: { kid: string; state: string }[] }
    const old = keys.findLast(({ state }) => state === 'published' || state === 'retired')
    return { input: { kid: old?.kid, ...more } }
  }

export const ROWS: Readonly<Record<string, Row | Readonly<Record<string, Row>>>> = {
  // Before anything is bought: figures of sales are counted a moment after the sale.
  'gateway.discovery.resources': stranger({ limit: 2 }),
  'gateway.discovery.search': stranger({ query: 'weather', limit: 2 }),
  'gateway.marketplace.search': stranger({ q: 'quiet' }),
  'gateway.marketplace.get': stranger({ seller: SELLER, service_id: 'quiet' }),
  'gateway.marketplace.sellers.get': stranger({ seller: SELLER }),

  gateway_execute: {
    'a free job': stranger({
      format: 'both',
      capability: 'extract-preview',
      html: '<article><h1>Tea</h1><p>Green.</p></article>',
    }),
    'a paid job': bought({ capability: 'feed-digest', limit: 1, format: 'both' }),
  },
  'gateway.capabilities': { whole: stranger(), 'one entry': stranger({ id: 'web-extraction' }) },
  'gateway.capabilities.get': stranger({ id: 'extract-preview' }),
  'gateway.web.fetch': bought({ url: PAGE }),
  'gateway.preflight': stranger({ url: PAGE }),
  'gateway.pricing': stranger(),
  'gateway.pricing.quote': stranger({ url: PAGE }),
  'gateway.protocols': stranger(),
  'gateway.health': stranger(),
  'gateway.inspect': example('gateway.inspect'),
  'gateway.test': example('gateway.test'),
  'gateway.test.schema': stranger(),

  'gateway.egress.fetch': ({ gw, capability }) => ({
    input: { url: gw.url('/every'), headers: { accept: 'application/json' } },
    token: capability,
  }),
  'gateway.egress.attempts.get': async ({ gw, capability }) => {
    const { body } = await gw.fetch(capability, { url: gw.url('/one') })
    return { input: { attempt_id: body.attempt_id as string }, token: capability }
  },
  'gateway.egress.attempts.list': given({ limit: 1 }),
  'gateway.egress.attempts.reconcile': async ({ gw, capability }) => {
    // Nothing listens there any more when the request has arrived.
    const { body } = await gw.fetch(capability, { url: gw.url('/lost'), method: 'POST', body: '{}' })
    return {
      input: { attempt_id: body.attempt_id as string, decision: 'happened', reason: 'it is in the log' },
    }
  },
  'gateway.egress.providers': stranger(),
  'gateway.egress.manifest': stranger(),
  'gateway.egress.pricing': stranger(),
  'gateway.egress.credentials.create': given(custom),
  'gateway.egress.credentials.list': given({ limit: 2 }),
  'gateway.egress.credentials.get': onCredential(),
  'gateway.egress.credentials.rotate': onCredential({ secret: 'upstream-secret-3' }),
  'gateway.egress.credentials.edit': onCredential({ label: 'another' }),
  'gateway.egress.credentials.revoke': onCredential(),
  'gateway.egress.credentials.delete': async (world) => {
    const credential_id = await credential(world)
    await world.rest('POST', `/v1/egress/credentials/${credential_id}/revoke`, {})
    return { input: { credential_id } }
  },
  'gateway.egress.capabilities.issue': ({ credentialId }) => ({ input: { credential_id: credentialId } }),
  'gateway.egress.capabilities.narrow': ({ capability }) => ({
    input: { methods: ['GET'], max_uses: 1, capability },
    token: '',
  }),
  'gateway.egress.capabilities.list': given({ limit: 2 }),
  'gateway.egress.capabilities.revoke': {
    'by its operator': async (world) => ({
      input: { capability_id: (await issued(world))['capability_id'] },
    }),
    'by its holder': async (world) => ({
      input: { capability_id: 'self', capability: (await issued(world))['capability'] },
      token: '',
    }),
  },

  'gateway.actions.execute': async ({ actions }) => {
    const request = actions.request()
    const { permit } = await actions.prepare(request)
    return { input: { permit, request }, token: '' }
  },
  'gateway.actions.prepare': ({ actions }) => ({
    input: { credential_id: actions.credentialId, request: actions.request(), mandate: actions.mandate() },
  }),
  'gateway.actions.approve': pending,
  'gateway.actions.refuse': pending,
  'gateway.actions.permits.get': pending,
  'gateway.actions.permits.wait': async ({ actions }) => ({
    input: { permit: (await actions.prepare()).permit, wait_seconds: 0 },
    token: '',
  }),
  'gateway.actions.permits.list': given({ limit: 2 }),
  'gateway.actions.mandates.create': ({ actions }) => ({ input: actions.mandate() }),
  'gateway.actions.mandates.list': given({ limit: 2 }),
  'gateway.actions.mandates.revoke': async ({ actions }) => {
    const { mandate_id } = await actions.prepare()
    return { input: { mandate_id } }
  },
  'gateway.actions.manifest': stranger(),
  'gateway.actions.pricing': stranger(),
  'gateway.actions.stats': stranger(),
  'gateway.edge.check': given({ host: 'sandbox.agent-gateway.test' }),

  'gateway.email.verify': async ({ emailKey }) => ({
    input: { email: 'ada@good.example', email_key: await emailKey() },
    token: '',
  }),
  'gateway.email.verify_batch': async ({ emailKey }) => ({
    input: { emails: ['ada@good.example', 'nobody'], email_key: await emailKey() },
    token: '',
  }),
  'gateway.keys.free': stranger(),
  'gateway.email.keys.list': given({ limit: 1 }),
  'gateway.email.keys.revoke': async ({ rest }) => ({
    input: { key_id: (await rest('POST', '/v1/keys/free', {}, ''))['key_id'] },
  }),
  'gateway.keys.create': given({ label: 'one more' }),
  'gateway.policies.list': given({}),
  'gateway.policies.get': given({ policy: 'egress' }),
  'gateway.policies.check': given({ policy: 'egress', text: '{"denied_hosts": ["example.com"]}' }),
  'gateway.policies.update': async (world) => {
    const { revision } = await world.rest('GET', '/v1/policies/egress')
    return { input: { policy: 'egress', text: '{"denied_hosts": ["denied.example.com"]}', revision } }
  },
  'gateway.policies.history': given({ policy: 'egress' }),
  'gateway.policies.revision': async (world) => {
    const { revision } = await world.rest('GET', '/v1/policies/payment')
    await world.rest('POST', '/v1/policies/payment', { text: '{"known_payees": ["0x0"]}', revision })
    const { revisions } = await world.rest('GET', '/v1/policies/payment/history')
    const [newest] = revisions as { revision_id: string }[]
    return { input: { policy: 'payment', revision_id: newest?.revision_id } }
  },
  'gateway.keys.list': given({ limit: 1 }),
  'gateway.keys.revoke': async ({ rest }) => ({
    input: { key_id: (await rest('POST', '/v1/keys', { label: 'to be revoked' }))['key_id'] },
  }),

  'gateway.people.list': given({ limit: 1 }),
  'gateway.people.invite': given({ role: 'approver', name: 'Sarah Haddad' }),
  'gateway.people.withdraw': async ({ rest }) => ({
    input: { invitation_id: (await rest('POST', '/v1/people/invitations', {}))['invitation_id'] },
  }),
  'gateway.people.role': async ({ gw }) => ({
    input: { person_id: (await signIn(gw, { role: 'operator' })).personId, role: 'auditor' },
  }),
  'gateway.people.remove': async ({ gw }) => ({
    input: { person_id: (await signIn(gw, { role: 'operator' })).personId },
  }),
  'gateway.settings.get': given(),
  'gateway.backup.make': given(),
  'gateway.backup.get': given(),
  'gateway.settings.change': given({ log_level: null }),
  'gateway.sessions.list': given({ limit: 1 }),
  'gateway.sessions.end': async ({ gw }) => ({
    input: { session_id: (await signIn(gw, { role: 'operator' })).sessionId },
  }),

  'gateway.identity_provider.get': given(),
  'gateway.identity_provider.set': given({
    enabled: false,
    name: 'Acme',
    issuer: 'https://id.example.com',
    client_id: 'agent-gateway',
  }),

  'gateway.credits.balance': ({ capability }) => ({ input: { limit: 1 }, token: capability }),
  'gateway.credits.grant': ({ next }) => ({ input: { amount: 10, reference: `invoice ${next()}` } }),
  'gateway.credits.purchase': given({ credits: 100 }, { isPaid: true }),
  'gateway.payments.get': async ({ buy }) => {
    const { claimId, payment } = await buy()
    return { input: { claim_id: claimId }, payment, token: '' }
  },
  'gateway.payments.refund': async ({ buy, next }) => ({
    input: {
      claim_id: (await buy()).claimId,
      amount_atomic: '1000',
      reason: 'the page was empty',
      reference: `ticket ${next()}`,
    },
  }),
  'gateway.payments.refunds': async ({ buy }) => ({ input: { claim_id: (await buy()).claimId } }),
  'gateway.payments.list': given({ limit: 1 }),
  'gateway.payments.show': async ({ buy }) => ({ input: { claim_id: (await buy()).claimId } }),
  'gateway.payments.reconcile': async ({ buy }) => ({ input: { claim_id: (await buy()).claimId } }),
  'gateway.payments.revenue': given({ by: 'tool' }),
  'gateway.payments.spend': ({ chain }) => ({ input: { payer: chain.payers[0]!.address } }),
  'gateway.facilitator.verify': facilitated,
  'gateway.facilitator.settle': facilitated,
  'gateway.facilitator.supported': stranger(),
  'gateway.facilitator': stranger(),
  'gateway.facilitator.route': stranger({ network: 'eip155:8453' }),
  'gateway.receipts.get': async ({ buy }) => ({ input: { receipt_id: (await buy()).receiptId }, token: '' }),

  'gateway.marketplace.call': bought({ seller: SELLER, service_id: 'echo' }),
  'gateway.marketplace.rate': async ({ buy }) => {
    const { receiptId, payment } = await buy()
    return { input: { receipt: receiptId, rating: 5, words: 'Exact.' }, payment, token: '' }
  },
  'gateway.marketplace.fee': stranger({ amount_atomic: '100001' }),
  'gateway.marketplace.payouts': stranger({ limit: 2 }),
  'gateway.marketplace.payouts.run': given({ minimum_atomic: 900_000_000 }),
  'gateway.marketplace.payouts.state': given(),
  'gateway.marketplace.payouts.verify': given(),
  'gateway.marketplace.sellers.register': ({ next }) => ({
    input: { seller: `shop-${next()}`, name: 'A shop', payout_address: sellerAccount.address },
    token: '',
  }),
  'gateway.seller.recover': async (world) => {
    const { seller } = await newSeller(world)
    const signed_at = new Date(Date.now() + 1000).toISOString()
    const { host } = new URL(world.gw.baseUrl)
    const message = `${host}: a new key for the seller ${seller} at ${signed_at}`
    return {
      input: { seller, signed_at, signature: await sellerAccount.signMessage({ message }) },
      token: '',
    }
  },
  'gateway.seller': asSeller(),
  'gateway.seller.edit': async (world) => ({
    input: { description: 'Weather of every airport.' },
    token: (await newSeller(world)).key,
  }),
  'gateway.seller.key': async (world) => ({ input: {}, token: (await newSeller(world)).key }),
  'gateway.seller.events': asSeller(() => ({ limit: 2 })),
  'gateway.seller.host': async (world) => ({
    input: { origin: world.origin },
    token: (await newSeller(world)).key,
  }),
  'gateway.seller.verify': async (world) => {
    const { key } = await newSeller(world)
    const origin = world.nextOrigin()
    const { dns } = await world.rest('POST', '/v1/marketplace/seller/hosts', { origin }, key)
    world.gw.dns.set(at(dns, 'name') as string, { TXT: [at(dns, 'value') as string] })
    return { input: { origin, ownership_proofs: await ownerships(origin) }, token: key }
  },
  'gateway.seller.create': asSeller(({ next, origin }) => serviceOf(`weather-${next()}`, origin)),
  'gateway.seller.import': asSeller(({ next, origin }) => ({
    service_id: `weather-${next()}`,
    origin,
    url: `${origin}/openapi.json`,
  })),
  'gateway.seller.update': asSeller(async (world) => ({
    service_id: await newService(world),
    max_requests_per_minute: 120,
  })),
  'gateway.seller.check': asSeller(() => ({ service_id: 'weather' })),
  'gateway.seller.credential': asSeller(async (world) => ({
    service_id: await newService(world),
    secret: 'a-token-of-the-seller',
  })),
  'gateway.seller.step': asSeller(async (world) => ({ service_id: await newService(world), step: 'submit' })),
  'gateway.moderation.queue': given({ limit: 1 }),
  'gateway.moderation.decide': ({ market, next }) => {
    const service_id = `waiting-${next()}`
    market.list(service_id, {}, 'pending')
    return { input: { seller: SELLER, service_id, decision: 'approve', reason: 'looked at' } }
  },
  'gateway.seller.refund': async ({ buy, next }) => ({
    input: { receipt_id: (await buy()).receiptId, reason: 'it was old', reference: `ticket ${next()}` },
  }),
  'gateway.seller.statement': given({ limit: 2 }),

  'gateway.audit.events': given({ limit: 2 }),
  'gateway.authority.rotation': given(),
  'gateway.authority.rotate': given(),
  'gateway.signing_keys.list': given(),
  'gateway.signing_keys.rotate': given(),
  'gateway.signing_keys.retire': retired(),
  'gateway.signing_keys.revoke': retired({ reason: 'a backup was stolen' }),
}
