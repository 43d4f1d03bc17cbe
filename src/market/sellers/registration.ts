// Who sells: registration, what a seller says of itself, its key, and where its money goes. Money follows the host: an address that
// is paid for a proven host changes only when the host itself says so, so that a stolen key cannot redirect what is owed.
import { createHash } from 'node:crypto'
import { mintKey } from '../../accounts/index.ts'
import { GatewayError } from '../../core/errors.ts'
import { holderOf } from '../../core/rate-limit.ts'
import { parseTarget } from '../../egress/target.ts'
import { newId } from '../../lib/ids.ts'
import { Secret } from '../../lib/secret.ts'
import { hashToken } from '../../lib/tokens.ts'
import { toTimestamp } from '../../lib/timestamp.ts'
import type { MarketHost, Seller } from '../../store/ports.ts'
import { checkSellerId, checkShownName, lookOf } from './names.ts'
import { type OwnershipVerdict, verifyOwnership } from './ownership.ts'
import { activeSellerOf, eventOf, isHostProven, type SellerParts, sellerOf } from './parts.ts'
import { describePayoutAddress, readPayoutAddress } from './payout-address.ts'
import type { SellerEdit, Sellers } from './ports.ts'
import { lookForProof } from './proof.ts'
import { toOwnHost, toOwnListing, toOwnSeller } from './wire.ts'
import { cleanLine, cleanText } from './words.ts'

type Registration = Pick<Sellers, 'register' | 'state' | 'edit' | 'replaceKey' | 'recover' | 'profile'>

const refuse = (pointer: string, message: string) =>
  new GatewayError('input_invalid', `${pointer}: ${message}`, { extras: { fields: [{ pointer, message }] } })

const REFUSED = {
  name: ['state_conflict', 'This seller id is taken, or looks like one that is. Choose another.'],
  account: ['state_conflict', 'This account has a seller already: gateway.seller shows it.'],
  address: [
    'rate_limited',
    'As many sellers as a day allows were registered from your address. Try again tomorrow.',
  ],
  day: [
    'rate_limited',
    'As many sellers as a day allows were registered. Try again tomorrow, or ask the operator.',
  ],
} as const

const RECOVERY_MS = 600_000
/** The clocks of wallets differ. */
const SKEW_MS = 30_000

/** Names this gateway, the seller and the moment: signed for one, it is worth nothing for another. */
export const recoveryText = (host: string, sellerId: string, at: number): string =>
  `${host}: a new key for the seller ${sellerId} at ${toTimestamp(at)}`

const noSeller = (sellerId: string) =>
  new GatewayError(
    'seller_not_found',
    // The gateway sells its own services without an account of a seller.
    sellerId === 'gateway'
      ? '`gateway` is this gateway itself: its services are in gateway.marketplace.search, and it has no entry as a seller.'
      : `There is no seller ${sellerId}. Each entry of gateway.marketplace.search names its \`seller\`.`,
  )

/** Registration, state and edits of sellers. */
export function createRegistration(parts: SellerParts): Registration {
  const { store, settings, now, payout, payoutChain, addresses } = parts

  function readName(text: string): string {
    const name = cleanLine(text, 80)
    if (name === '') throw refuse('/name', 'has no character that can be seen')
    const verdict = checkShownName(name)
    if (!verdict.ok) throw refuse('/name', verdict.why)
    return name
  }
  function readWebhook(text: string | null): string | null {
    if (text === null) return null
    const verdict = parseTarget(text, parts.target)
    if (!verdict.ok) throw refuse('/webhook_url', verdict.detail)
    return verdict.url.href
  }
  const readContact = (text: string | null) => (text === null ? null : cleanLine(text, 200) || null)
  const notesOn = (address: string) => describePayoutAddress(address, payoutChain)

  function mint(accountId: string) {
    const { key, token } = mintKey({
      accountId,
      label: 'seller',
      admin: false,
      role: 'seller',
      createdAt: now(),
    })
    return { key, keyHash: hashToken(token), token: new Secret(token) }
  }

  async function replaceKeys({ accountId }: Seller) {
    const { key, keyHash, token } = mint(accountId)
    await store.replaceSellerKeys({ key, keyHash, now: now() })
    return { keyId: key.id, token }
  }

  return {
    async register(input, by) {
      const verdict = checkSellerId(input.seller)
      if (!verdict.ok) throw refuse('/seller', verdict.why)
      const at = now()
      const accountId = by.accountId ?? newId('acct', at)
      const seller: Seller = {
        id: input.seller,
        accountId,
        name: readName(input.name),
        description: cleanText(input.description, 2000),
        payoutAddress: await readPayoutAddress(input.payout_address, payout),
        contact: readContact(input.contact),
        webhookUrl: readWebhook(input.webhook_url),
        state: 'active',
        stateReason: null,
        version: 1,
        createdAt: at,
        updatedAt: at,
      }
      const { limits } = await settings()
      const minted = by.accountId === undefined ? mint(accountId) : undefined
      const created = await store.createSeller({
        seller,
        skeleton: lookOf(seller.id),
        ...(minted && {
          opening: {
            account: { id: accountId, name: `seller ${seller.id}`, createdAt: at },
            key: minted.key,
            keyHash: minted.keyHash,
          },
        }),
        from: by.accountId === undefined && !parts.hasNoLimits ? holderOf(by.address) : null,
        limits: { perAddress: limits.sellers_per_address_and_day, perDay: limits.sellers_per_day },
      })
      if (!created.ok) {
        // The same account says the same again: it is told what it has.
        const own = by.accountId === undefined ? undefined : await store.findSellerOfAccount(by.accountId)
        if (own?.id === seller.id)
          return { seller: toOwnSeller(own, await notesOn(own.payoutAddress)), key: null }
        const [code, detail] = REFUSED[created.reason]
        throw new GatewayError(code, detail)
      }
      const notes = await notesOn(seller.payoutAddress)
      return { seller: toOwnSeller(seller, notes), key: minted?.token ?? null }
    },

    async state(key) {
      const seller = await sellerOf(parts, key)
      const [hosts, listings] = await Promise.all([
        store.listHosts(seller.id),
        store.listListingsOf(seller.id),
      ])
      return {
        seller: toOwnSeller(seller, await notesOn(seller.payoutAddress)),
        hosts: hosts.map((host) => toOwnHost(host, seller)),
        listings: listings.map((listing) => toOwnListing(listing, addresses.baseUrl)),
      }
    },

    async edit(key, edit) {
      const seller = await activeSellerOf(parts, key)
      const payoutAddress =
        edit.payout_address === undefined
          ? seller.payoutAddress
          : await readPayoutAddress(edit.payout_address, payout)
      const moved =
        payoutAddress === seller.payoutAddress ? [] : await allowMove(parts, seller, payoutAddress, edit)
      const updated = await store.updateSeller({
        id: seller.id,
        fromVersion: seller.version,
        edit: {
          name: edit.name === undefined ? seller.name : readName(edit.name),
          description:
            edit.description === undefined ? seller.description : cleanText(edit.description, 2000),
          payoutAddress,
          contact: edit.contact === undefined ? seller.contact : readContact(edit.contact),
          webhookUrl: edit.webhook_url === undefined ? seller.webhookUrl : readWebhook(edit.webhook_url),
        },
        now: now(),
      })
      if (!updated)
        throw new GatewayError(
          'state_conflict',
          'The seller was changed meanwhile. Read it again, then repeat the change.',
        )
      for (const { host, signature } of moved)
        await store.proveHost({
          sellerId: seller.id,
          host: host.host,
          method: host.method,
          signature: { kind: signature.kind, text: signature.signature, address: payoutAddress },
          event: eventOf('seller.payout_address_changed', now(), {
            host: host.host,
            payout_address: payoutAddress,
          }),
          now: now(),
        })
      return toOwnSeller(updated, await notesOn(payoutAddress))
    },

    async replaceKey(key) {
      return replaceKeys(await sellerOf(parts, key))
    },

    async recover(sellerId, { signedAt, signature }) {
      const seller = await store.findSeller(sellerId)
      if (!seller) throw noSeller(sellerId)
      const { host } = new URL(addresses.baseUrl)
      const refused = (why: string) =>
        new GatewayError(
          'sign_in_refused',
          `${why} Sign this with ${seller.payoutAddress}, with the time of now: ${recoveryText(host, sellerId, now())}`,
        )
      const age = now() - signedAt
      if (!(age < RECOVERY_MS && age >= -SKEW_MS))
        throw refused('The signature is not of the last ten minutes.')
      const verdict = await verifyOwnership(
        recoveryText(host, sellerId, signedAt),
        seller.payoutAddress,
        [signature],
        payoutChain,
      )
      if (!verdict.ok && verdict.reason === 'unknown')
        throw new GatewayError(
          'payments_unavailable',
          'The chain did not answer whether the contract accepts it. Try again.',
        )
      if (!verdict.ok) throw refused('The payout account did not sign this.')
      // A signature is taken once: it has to be newer than the key that it replaces.
      const { items } = await store.listKeys(seller.accountId, { limit: 100 })
      if (items.some(({ role, createdAt }) => role === 'seller' && createdAt >= signedAt))
        throw refused('A key was made since this was signed.')
      return replaceKeys(seller)
    },

    async profile(sellerId) {
      const seller = await store.findSeller(sellerId)
      if (!seller) throw noSeller(sellerId)
      const [hosts, listings] = await Promise.all([store.listHosts(sellerId), store.listListingsOf(sellerId)])
      return {
        seller: seller.id,
        name: seller.name,
        description: seller.description,
        payout_address: seller.payoutAddress,
        state: seller.state,
        proven_hosts: hosts.flatMap((host) =>
          isHostProven(host, seller) && host.provenAt !== null
            ? [{ host: host.host, method: host.method ?? 'dns', proven_at: toTimestamp(host.provenAt) }]
            : [],
        ),
        services: listings.filter(({ state }) => state === 'active').map(({ serviceId }) => serviceId),
        created_at: toTimestamp(seller.createdAt),
      }
    },
  }
}

/** The challenge that a host shows to have the money for it sent to another address. */
export const payoutChallenge = (challenge: string, address: string): string =>
  createHash('sha256').update(`payout ${challenge} ${address}`).digest('base64url').slice(0, 32)

interface Moved {
  readonly host: MarketHost
  readonly signature: Extract<OwnershipVerdict, { ok: true }>
}

/**
 * Whether the hosts agree to another payout address: each that is proven now has to show the challenge of that address, which
 * nobody who merely holds the key can publish, and the new account has to sign for it.
 * @throws {GatewayError} state_conflict with what to publish
 */
async function allowMove(
  parts: SellerParts,
  seller: Seller,
  address: string,
  edit: SellerEdit,
): Promise<readonly Moved[]> {
  const held = (await parts.store.listHosts(seller.id)).filter(({ state }) => state !== 'claimed')
  const moved: Moved[] = []
  const missing: Record<string, unknown>[] = []
  for (const host of held) {
    const challenge = payoutChallenge(host.challenge, address)
    const origin = `https://${host.host}`
    const [proof, signature] = await Promise.all([
      lookForProof(parts.proof, host.host, challenge),
      verifyOwnership(origin, address, edit.ownership_proofs ?? [], parts.payoutChain),
    ])
    if (proof.is === 'proven' && signature.ok) {
      if (host.state === 'proven') moved.push({ host, signature })
      continue
    }
    const { dns, well_known } = toOwnHost({ ...host, challenge }, { payoutAddress: address })
    missing.push({
      host: host.host,
      shows_challenge: proof.is === 'proven',
      is_signed: signature.ok,
      dns,
      well_known,
      sign: { message: origin, by: address },
    })
  }
  if (missing.length === 0) return moved
  throw new GatewayError(
    'state_conflict',
    'Money for a host goes to another address only when the host says so. Publish what `hosts` names at each (beside the challenge ' +
      'that is there), sign each origin with the new account, and send the signatures as ownership_proofs with this request again.',
    { extras: { hosts: missing } },
  )
}
