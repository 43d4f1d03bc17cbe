// Credentials of MPP by method, action and type of payload, written from the field tables of the drafts with names of our own: each is
// whole, and pays what its challenge asks for.
import type { Plain, SampleSource } from '../../support/commerce.ts'

const HOST = 'stream.example'
export const PAYEE = '0x52908400098527886e0f7030069857d2e4169ee7'
export const PAYER = '0x8617e340b3d01fa5f11f306f4090fd50e238070d'
export const TOKEN = '0x20c0000000000000000000000000000000000000'
export const USDC = '0x036cbd53842c5426634e7929541ec2318f3dcf7e'
export const ESCROW = '0x3d8b2f7c1a905e64d2b7f08e19c4a6537d1e82b5'
const NOBODY = `0x${'0'.repeat(40)}`
const word = (text: string) => `0x${text.repeat(64 / text.length)}`
const CHANNEL = word('6d0f4fdf1f2f6a1f')
const SIGNATURE = `0x${'9a5c31e7'.repeat(16)}1b`
const TRANSACTION = `0x76${'a3f0915cd7e4286b'.repeat(12)}`
const END = '1790003600'
const SOLANA_PAYEE = '7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU'
const SOLANA_MINT = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
const SOLANA_PAYER = '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin'
const SOLANA_CHANNEL = 'C4HnVjA7WMUtSQzAv4G6T3qBjLwK5jM7PvE2nQ5sZ3kP'
const SOLANA_SIGNATURE = '5UfDuX7hXbPjGUpTmt9PHRLsNGJe4dEnyVt2qLkWb8sHc3pRzQ6xNaYm1FoTgE7u'

type Members = { readonly [name: string]: Plain }

/** A credential over HTTP. @param more members beside challenge and payload */
export const credential = (
  method: string,
  intent: string,
  request: Members,
  payload: Members,
  more: Members = {},
): SampleSource => ({
  target: `https://${HOST}/chat`,
  method: 'GET',
  headers: {
    'Idempotency-Key': '6f1c2a9e-0d4b-4f7a-9c3e-5b8d7a2e1f60',
    Authorization: {
      $payment: {
        challenge: {
          id: 'Kq3vX8pLm2ZtR7wYc5NbJ1sHd9GfA4eUo6TiQx0VkBM',
          realm: HOST,
          method,
          intent,
          request: { $base64url: request },
          expires: '2026-09-21T14:40:00Z',
        },
        payload,
        ...more,
      },
    },
  },
})

const price = { amount: '25', unitType: 'token' }
const tempoRequest = {
  ...price,
  currency: TOKEN,
  recipient: PAYEE,
  methodDetails: { escrowContract: ESCROW, chainId: 4217, sessionProtocol: 'v2' },
}
const descriptor = {
  payer: PAYER,
  payee: PAYEE,
  operator: NOBODY,
  token: TOKEN,
  salt: word('a1b2c3d4'),
  authorizedSigner: NOBODY,
  expiringNonceHash: word('bd04e75a'),
}
const voucher = { channelId: CHANNEL, cumulativeAmount: '2500', signature: SIGNATURE }
const tempo = (payload: Members) => credential('tempo', 'session', tempoRequest, payload)

const evmRequest = {
  ...price,
  currency: USDC,
  recipient: PAYEE,
  methodDetails: { escrowContract: ESCROW, chainId: 84532, feePayer: true, credentialTypes: ['authorization', 'permit2', 'hash'] },
}
const eip3009 = {
  from: PAYER,
  to: ESCROW,
  value: '4000',
  validAfter: '0',
  validBefore: END,
  nonce: word('0c7e51fa'),
}
const permit = (witness: Members) => ({
  from: PAYER,
  permitted: { token: USDC, amount: '4000' },
  nonce: '17',
  deadline: END,
  witness,
})
const opening = { channelId: CHANNEL, cumulativeAmount: '0', voucherSignature: SIGNATURE, salt: word('a1b2c3d4') }
const evm = (payload: Members, more: Members = {}) => credential('evm', 'session', evmRequest, payload, more)

const hederaRequest = {
  ...price,
  currency: '0x000000000000000000000000000000000006f89a',
  recipient: PAYEE,
  methodDetails: { escrowContract: ESCROW, chainId: 295 },
}
const hedera = (payload: Members) => credential('hedera', 'session', hederaRequest, payload)

const solanaRequest = {
  ...price,
  currency: SOLANA_MINT,
  recipient: SOLANA_PAYEE,
  minimumDeposit: '1000',
  methodDetails: { network: 'mainnet', decimals: 6, channelProgram: 'ComputeBudget111111111111111111111111111111', gracePeriodSeconds: 900 },
}
const solana = (payload: Members) => credential('solana', 'session', solanaRequest, payload)
const bearer = { type: 'proof', challengeId: 'c_8d0e3b5a9f2c1d4e', payer: SOLANA_PAYER, signature: SOLANA_SIGNATURE }
const solanaVoucher = {
  voucher: { channelId: SOLANA_CHANNEL, cumulativeAmount: '2500', expiresAt: 0 },
  signer: SOLANA_PAYER,
  signature: SOLANA_SIGNATURE,
  signatureType: 'ed25519',
}

const lightningRequest = {
  amount: '2',
  currency: 'sat',
  paymentHash: '7f3a1b2c4d5e6f08'.repeat(4),
  depositInvoice: 'lnbc3u1p5mzfsapp5w9q',
  depositAmount: '300',
}
const lightning = (payload: Members) => credential('lightning', 'session', lightningRequest, payload)
const PREIMAGE = 'a3f1e2d4b5c6a7e8'.repeat(4)

/** Sessions, by method and action. */
export const SESSIONS: Readonly<Record<string, SampleSource>> = {
  'tempo open': tempo({ action: 'open', type: 'transaction', transaction: TRANSACTION, descriptor, ...voucher, cumulativeAmount: '0' }),
  'tempo topUp': tempo({ action: 'topUp', type: 'transaction', channelId: CHANNEL, transaction: TRANSACTION, descriptor, additionalDeposit: '4000' }),
  'tempo voucher': tempo({ action: 'voucher', descriptor, ...voucher }),
  'tempo close': tempo({ action: 'close', descriptor, ...voucher }),
  'tempo voucher of v1': credential(
    'tempo',
    'session',
    { ...tempoRequest, methodDetails: { escrowContract: ESCROW } },
    { action: 'voucher', ...voucher },
  ),
  'evm open by hash': evm(
    { action: 'open', type: 'hash', hash: word('5e1f7a20'), salt: word('a1b2c3d4'), ...voucher, cumulativeAmount: '0' },
    { source: `did:pkh:eip155:84532:${PAYER}` },
  ),
  'evm open by authorization': evm({ action: 'open', type: 'authorization', authorization: eip3009, signature: SIGNATURE, ...opening }),
  'evm open by permit2': evm({
    action: 'open',
    type: 'permit2',
    authorization: permit({ payee: PAYEE, salt: word('a1b2c3d4'), authorizedSigner: NOBODY }),
    signature: SIGNATURE,
    ...opening,
  }),
  'evm topUp by authorization': evm({
    action: 'topUp',
    type: 'authorization',
    channelId: CHANNEL,
    salt: word('c0ffee12'),
    authorization: eip3009,
    signature: SIGNATURE,
    additionalDeposit: '4000',
  }),
  'evm topUp by permit2': evm({
    action: 'topUp',
    type: 'permit2',
    channelId: CHANNEL,
    authorization: permit({ channelId: CHANNEL }),
    signature: SIGNATURE,
    additionalDeposit: '4000',
  }),
  'evm voucher': evm({ action: 'voucher', ...voucher }),
  'evm voucher with a deposit': evm({
    action: 'voucher',
    ...voucher,
    deposit: { action: 'topUp', type: 'authorization', salt: word('c0ffee12'), authorization: eip3009, signature: SIGNATURE },
  }),
  'evm close': evm({ action: 'close', ...voucher }),
  'hedera open': hedera({ action: 'open', txHash: word('5e1f7a20'), ...voucher }),
  'hedera topUp': hedera({ action: 'topUp', channelId: CHANNEL, txHash: word('5e1f7a20'), additionalDeposit: '4000' }),
  'hedera voucher': hedera({ action: 'voucher', ...voucher }),
  'hedera close': hedera({ action: 'close', ...voucher }),
  'solana open': solana({
    action: 'open',
    channelId: SOLANA_CHANNEL,
    payer: SOLANA_PAYER,
    payee: SOLANA_PAYEE,
    mint: SOLANA_MINT,
    authorizedSigner: SOLANA_PAYER,
    salt: '42',
    depositAmount: '4000',
    gracePeriodSeconds: 900,
    openSlot: '352114093',
    transaction: `AQAB${'q1Zx9Kd3'.repeat(20)}`,
  }),
  'solana voucher': solana({ action: 'voucher', channelId: SOLANA_CHANNEL, voucher: solanaVoucher }),
  'solana use': solana({ action: 'use', channelId: SOLANA_CHANNEL, authentication: bearer }),
  'solana topUp': solana({
    action: 'topUp',
    channelId: SOLANA_CHANNEL,
    additionalAmount: '4000',
    transaction: `AQAB${'q1Zx9Kd3'.repeat(20)}`,
  }),
  'solana close': solana({ action: 'close', channelId: SOLANA_CHANNEL, voucher: solanaVoucher }),
  'solana close of an operator': solana({ action: 'close', channelId: SOLANA_CHANNEL, authentication: bearer }),
  'lightning open': lightning({ action: 'open', preimage: PREIMAGE, returnInvoice: 'lnbc1p5abcqpp5w9q' }),
  'lightning bearer': lightning({ action: 'bearer', sessionId: '7f3a1b2c4d5e6f08'.repeat(4), preimage: PREIMAGE }),
  'lightning topUp': lightning({ action: 'topUp', sessionId: '7f3a1b2c4d5e6f08'.repeat(4), topUpPreimage: PREIMAGE }),
  'lightning close': lightning({ action: 'close', sessionId: '7f3a1b2c4d5e6f08'.repeat(4), preimage: PREIMAGE }),
}

const due = { amount: '4000', currency: USDC, recipient: PAYEE }
const charge = (method: string, request: Members, payload: Members, more: Members = {}) =>
  credential(method, 'charge', request, payload, more)
const onBase = { ...due, methodDetails: { chainId: 84532, permit2Address: '0x000000000022D473030F116dDEE9F6B43aC78BA3' } }
const SPLIT = '0x27b1fdb04752bbc536007a920d24acb045561c26'
const leg = (to: string, amount: string) => ({ permitted: { token: USDC, amount }, detail: { to, requestedAmount: amount } })
const permit2 = (legs: readonly ReturnType<typeof leg>[]) => ({
  type: 'permit2',
  permit: { permitted: legs.map(({ permitted }) => permitted), nonce: '17', deadline: END },
  transferDetails: legs.map(({ detail }) => detail),
  witness: { challengeHash: word('8a3b05d7') },
  signature: SIGNATURE,
})
const tempoDue = { ...due, currency: TOKEN, methodDetails: { chainId: 4217 } }
const solanaDue = { amount: '4000', currency: SOLANA_MINT, recipient: SOLANA_PAYEE, methodDetails: { network: 'mainnet', decimals: 6 } }

/** Charges and subscriptions, by method and type. */
export const CHARGES: Readonly<Record<string, SampleSource>> = {
  'tempo transaction': charge('tempo', tempoDue, { type: 'transaction', signature: TRANSACTION }),
  'tempo hash': charge('tempo', tempoDue, { type: 'hash', hash: word('5e1f7a20') }),
  'tempo proof of nothing': charge(
    'tempo',
    { ...tempoDue, amount: '0' },
    { type: 'proof', signature: SIGNATURE },
    { source: `did:pkh:eip155:4217:${PAYER}` },
  ),
  'evm permit2': charge('evm', onBase, permit2([leg(PAYEE, '4000')])),
  'evm permit2 with a split': charge(
    'evm',
    { ...due, methodDetails: { chainId: 84532, splits: [{ recipient: SPLIT, amount: '500' }] } },
    permit2([leg(PAYEE, '3500'), leg(SPLIT, '500')]),
  ),
  'evm authorization': charge('evm', onBase, { type: 'authorization', ...eip3009, to: PAYEE, signature: SIGNATURE }),
  'evm transaction': charge('evm', onBase, { type: 'transaction', signature: `0x02f8${'a3f0915cd7e4286b'.repeat(12)}` }),
  'evm hash': charge('evm', onBase, { type: 'hash', hash: word('5e1f7a20') }),
  'hedera hash': charge(
    'hedera',
    { amount: '4000', currency: '0.0.456858', recipient: '0.0.12345', methodDetails: { chainId: 295 } },
    { type: 'hash', transactionId: '0.0.12345@1790000000.123456789' },
  ),
  'solana transaction': charge('solana', solanaDue, { type: 'transaction', transaction: `AQAB${'q1Zx9Kd3'.repeat(20)}` }),
  'solana signature': charge('solana', solanaDue, { type: 'signature', signature: SOLANA_SIGNATURE }),
  'solana bundle': charge('solana', solanaDue, { type: 'bundle', transactions: [`AQAB${'q1Zx9Kd3'.repeat(20)}`, `AQAC${'q1Zx9Kd3'.repeat(20)}`] }),
  'stellar transaction': charge(
    'stellar',
    {
      amount: '4000',
      currency: 'CBIELTK6YBZJU5UP2WWQEUCYKLPU6AUNZ2BQ4WWFEIE3USCIHMXQDAMA',
      recipient: 'GBHEGW3KWOY2OFH767EDALFGCUTBOEVBDQMCKUVXKPBTYFHCUS3DHFJY',
      methodDetails: { network: 'stellar:pubnet', feePayer: true },
    },
    { type: 'transaction', transaction: `AAAAAgAAAAB${'riIN4q1Z'.repeat(20)}` },
  ),
  'nearintents hash': charge(
    'nearintents',
    {
      amount: '4000',
      currency: `eip155:84532/erc20:${USDC}`,
      recipient: PAYEE,
      methodDetails: { originNetwork: 'eip155:84532', destinationNetwork: 'near:mainnet', amountOut: '3990', minAmountIn: '3990' },
    },
    { type: 'hash', hash: word('5e1f7a20') },
  ),
  'usdc authorization': charge(
    'usdc',
    { ...due, methodDetails: { type: 'evm', evm: { chainId: 84532, decimals: 6 } } },
    { type: 'authorization', ...eip3009, to: PAYEE, signature: SIGNATURE },
  ),
  'usdc transfer': charge(
    'usdc',
    {
      amount: '4000',
      currency: 'usdc',
      recipient: SOLANA_PAYEE,
      methodDetails: {
        type: 'gateway',
        gateway: {
          acceptedSources: ['eip155:84532'],
          destinationNetwork: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
          maxFee: '500',
        },
      },
    },
    {
      type: 'transfer',
      sourceNetwork: 'eip155:84532',
      destinationNetwork: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
      maxFee: '500',
      authorization: {
        format: 'circle-gateway-v1',
        transfer: { burnIntent: { maxFee: '500', spec: { version: 1, value: '4000', salt: word('ab85') } }, signature: SIGNATURE },
      },
    },
  ),
  'lightning preimage': charge(
    'lightning',
    { amount: '100', currency: 'sat', methodDetails: { invoice: 'lnbc1u1p5mzfsapp5w9q', network: 'mainnet' } },
    { preimage: PREIMAGE },
  ),
  'stripe token': charge(
    'stripe',
    { amount: '4000', currency: 'usd', methodDetails: { networkId: 'profile_61Mq', paymentMethodTypes: ['card'] } },
    { spt: 'spt_1N4Zv32eZvKYlo2CPhVPkJlW' },
  ),
  'a card': charge(
    'card',
    { amount: '4000', currency: 'usd', recipient: 'merch_abc123', methodDetails: { acceptedNetworks: ['visa'], merchantName: 'Tea shop' } },
    {
      encryptedPayload: `eyJhbGciOiJSU0EtT0FFUC0yNTYifQ.${'q1Zx9Kd3'.repeat(8)}.a1b2c3.${'d4e5'.repeat(9)}.f6a7`,
      network: 'visa',
      panLastFour: '4242',
      panExpirationMonth: '06',
      panExpirationYear: '2028',
    },
  ),
  'tempo subscription': credential(
    'tempo',
    'subscription',
    {
      amount: '4000',
      currency: TOKEN,
      recipient: PAYEE,
      periodUnit: 'day',
      periodCount: '30',
      subscriptionExpires: '2027-03-21T14:40:00Z',
      methodDetails: { chainId: 4217, accessKey: { accessKeyAddress: PAYER, keyType: 'p256' } },
    },
    { type: 'keyAuthorization', signature: `0xf8c1${'a3f0915cd7e4286b'.repeat(12)}` },
  ),
}

const rlp = (item: string | readonly unknown[]): Buffer => {
  const isList = typeof item !== 'string'
  const body = isList
    ? Buffer.concat(item.map((inner) => rlp(inner as string)))
    : Buffer.from(item, 'hex')
  if (!isList && body.length === 1 && (body[0] ?? 0) < 0x80) return body
  const base = isList ? 0xc0 : 0x80
  if (body.length < 56) return Buffer.concat([Buffer.from([base + body.length]), body])
  const size = Buffer.from(body.length.toString(16).padStart(4, '0'), 'hex')
  return Buffer.concat([Buffer.from([base + 57]), size, body])
}
const argument = (value: string | bigint) =>
  typeof value === 'string' ? value.slice(2).padStart(64, '0') : value.toString(16).padStart(64, '0')

/** Calldata of a function. @param selector eight digits */
export const call = (to: string, selector: string, ...args: readonly (string | bigint)[]): readonly string[] => [
  to.slice(2),
  '',
  selector + args.map(argument).join(''),
]
const SIGNED = ['', 'c1d2e3f4'.repeat(8), '1b2a3c4d'.repeat(8)]

/** A transaction of Tempo with these calls. */
export const tempoTransaction = (calls: readonly (readonly string[])[], chain = '1079'): string =>
  `0x76${rlp([chain, '01', '02', '5208', calls, [], '', '', '', '', TOKEN.slice(2), '', [], SIGNED.join('')]).toString('hex')}`

/** A transaction of EIP-1559 with one call. */
export const evmTransaction = ([to = '', value = '', data = '']: readonly string[], chain = '014a34'): string =>
  `0x02${rlp([chain, '', '01', '02', '5208', to, value, data, [], ...SIGNED]).toString('hex')}`
