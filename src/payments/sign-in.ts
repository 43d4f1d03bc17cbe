// Decides whether somebody signed in as the payer of a claim, with x402's extension `sign-in-with-x`: EIP-4361 under EIP-191, or
// ERC-1271 where the payer is a contract.
//
// A challenge costs no row, so nobody fills the store by asking: its nonce is a keyed digest of the claim and the moment, which
// binds the signature to this gateway, this claim and these five minutes, and cannot be signed ahead. A signature is taken
// once: the row of the claim remembers the moment of the newest one, for all replicas, and nothing as old is taken after it.
import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto'
import { SignInProof, type SignInChallenge } from '../../schemas/sign-in.ts'
import type { PresentedSignIn } from '../core/charging.ts'
import { isObject } from '../lib/json.ts'
import type { Millis } from '../store/model.ts'
import type { PaymentClaim } from '../store/ports.ts'
import { decodeHeader } from './codec.ts'
import { type Chain, ChainError } from './chain-ports.ts'
import { loadSecp256k1 } from './secp256k1.ts'

/** A person may have to find a phone. */
const WINDOW_MS = 300_000
/** The clocks of replicas differ. */
const SKEW_MS = 30_000

export interface SignInParts {
  /** Of this installation, for this purpose alone. */
  readonly key: KeyObject
  readonly baseUrl: string
  /** The key is a CAIP-2 id. */
  readonly chains: ReadonlyMap<string, Pick<Chain, 'acceptsSignature'>>
  readonly now: () => Millis
}

export type SignInVerdict =
  | { readonly ok: true; readonly issuedAt: Millis }
  | {
      readonly ok: false
      readonly reason:
        | 'malformed'
        | 'other_domain'
        | 'other_payment'
        | 'other_chain'
        | 'changed'
        | 'expired'
        | 'other_payer'
        | 'signature'
        | 'chain'
      readonly message: string
    }

export interface SignIns {
  /** @param networks CAIP-2 ids: that of the claim, or every one where it is not said whether there is such a claim */
  challenge(claimId: string, networks: readonly string[]): SignInChallenge
  /**
   * Whether the payer of this claim signed. Changes nothing: whoever releases has the store take the signature.
   * @param claim undefined is answered as a claim of another payer is, so that nobody finds claims by trying
   */
  verify(presented: PresentedSignIn, claim: PaymentClaim | undefined): Promise<SignInVerdict>
}

export function createSignIns({ key, baseUrl, chains, now }: SignInParts): SignIns {
  const domain = new URL(baseUrl).host

  function infoOf(claimId: string, issuedAt: Millis): SignInChallenge['info'] {
    // Whoever asks writes the id: it may not become another line of what a wallet signs.
    const uri = `${baseUrl}/v1/payments/${encodeURIComponent(claimId.toWellFormed())}`
    const moment = new Date(issuedAt).toISOString()
    return {
      domain,
      uri,
      statement: 'Show what this payment bought. This moves no money.',
      version: '1',
      nonce: createHmac('sha256', key).update(`${claimId}\n${moment}`).digest('hex').slice(0, 32),
      issuedAt: moment,
      expirationTime: new Date(issuedAt + WINDOW_MS).toISOString(),
      resources: [uri],
    }
  }

  async function isSigned(proof: SignInProof, { network, payer }: PaymentClaim): Promise<boolean> {
    const { keccak256, recoverAddress } = await loadSecp256k1()
    const message = Buffer.from(messageOf(proof))
    const prefix = Buffer.from(`\u0019Ethereum Signed Message:\n${message.length}`)
    const digest = keccak256(Buffer.concat([prefix, message]))
    const signature = Buffer.from(proof.signature.slice(2), 'hex')
    if (recoverAddress(digest, withV27(signature)) === payer) return true
    const chain = chains.get(network)
    if (!chain) throw new ChainError('unreachable', network)
    return chain.acceptsSignature({ account: payer, digest, signature })
  }

  return {
    challenge: (claimId, networks) => ({
      info: infoOf(claimId, now()),
      supportedChains: networks.map((chainId) => ({ chainId, type: 'eip191' })),
    }),

    async verify(presented, claim) {
      const proof = read(presented)
      if (typeof proof === 'string') return refuse('malformed', `Sign-In-With-X cannot be read: ${proof}.`)
      if (!claim || proof.address.toLowerCase() !== claim.payer)
        return refuse('other_payer', 'This wallet paid no such payment.')
      const issuedAt = Date.parse(proof.issuedAt)
      const age = now() - issuedAt
      if (!(age < WINDOW_MS && age >= -SKEW_MS)) return refuse('expired', 'This signature has expired.')
      const asked = infoOf(claim.id, issuedAt)
      if (proof.domain !== asked.domain)
        return refuse('other_domain', `This signature is for another domain; here it is ${asked.domain}.`)
      if (proof.uri !== asked.uri || !isSame(proof.nonce, asked.nonce))
        return refuse('other_payment', 'This signature is for another payment, or its nonce is not ours.')
      if (messageOf(proof) !== messageOf({ ...proof, ...asked }))
        return refuse(
          'changed',
          'Sign the members of `info` as they are: nothing added, changed or left out.',
        )
      if (proof.chainId !== claim.network)
        return refuse('other_chain', `It was paid on ${claim.network}. Sign for that chain.`)
      try {
        if (await isSigned(proof, claim)) return { ok: true, issuedAt }
      } catch (thrown) {
        if (!(thrown instanceof ChainError)) throw thrown
        return refuse('chain', `${claim.network} could not be asked whether the wallet signed this.`)
      }
      return refuse('signature', 'The wallet that paid did not sign this.')
    },
  }
}

type Refused = SignInVerdict & { ok: false }
const refuse = (reason: Refused['reason'], message: string): Refused => ({ ok: false, reason, message })

/** The proof, or why it is none. */
function read(presented: PresentedSignIn): SignInProof | string {
  const value = presented.value.use((text: unknown) => {
    if (typeof text !== 'string') return text
    try {
      return decodeHeader(text)
    } catch {
      return undefined
    }
  })
  if (!isObject(value)) return 'send base64 of a JSON object'
  const { data, error } = SignInProof.safeParse(value)
  if (data) return data
  const [issue] = error.issues
  return `${issue?.path.join('.').slice(0, 64) || 'a member'}: ${issue?.message ?? 'not valid'}`
}

/** The text of EIP-4361 that the wallet shows and signs. */
function messageOf(proof: Omit<SignInProof, 'signature'>): string {
  return [
    `${proof.domain} wants you to sign in with your Ethereum account:`,
    proof.address,
    '',
    proof.statement,
    '',
    `URI: ${proof.uri}`,
    `Version: ${proof.version}`,
    `Chain ID: ${proof.chainId.slice('eip155:'.length)}`,
    `Nonce: ${proof.nonce}`,
    `Issued At: ${proof.issuedAt}`,
    `Expiration Time: ${proof.expirationTime}`,
    'Resources:',
    ...proof.resources.map((resource) => `- ${resource}`),
  ].join('\n')
}

/** Some wallets count the recovery id from 0. */
function withV27(signature: Buffer): Buffer {
  const v = signature[64]
  if (signature.length !== 65 || (v !== 0 && v !== 1)) return signature
  return Buffer.concat([signature.subarray(0, 64), Buffer.of(27 + v)])
}

function isSame(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)]
  return left.length === right.length && timingSafeEqual(left, right)
}
