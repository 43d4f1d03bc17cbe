// How people show who they are. A challenge is made for one purpose, waits in the store, is taken away by the first answer to it, and is
// judged only then: whatever an answer is, it is one once.
import { hash } from 'node:crypto'
import { GatewayError } from '../core/errors.ts'
import { createRateLimiter } from '../core/rate-limit.ts'
import type { RateSharing } from '../core/rate-sharing.ts'
import { isFresh } from '../core/roles.ts'
import { actAs } from '../lib/acting.ts'
import { newId } from '../lib/ids.ts'
import { hashToken } from '../lib/tokens.ts'
import type { ChallengePurpose, Passkey, SignedIn, SignInMethod, Store } from '../store/ports.ts'
import { deviceOf } from './device.ts'
import { invitationInvalid, openInvitation } from './invitations.ts'
import type { From, Opened, Sessions, SignIn } from './ports.ts'
import { hashRecoveryCode, newRecoveryCodes } from './recovery.ts'
import { CHALLENGE_MS, createWebauthn, refused } from './webauthn.ts'

/** Devices that one person may sign in with. */
const MAX_PASSKEYS = 20
/** Recovery codes that one address may try in a minute. */
const CODES_PER_MINUTE = 10
/** Where an invitation is for anybody but the members of an account, and a challenge for anybody at all. */
const ANYBODY = ''

export interface SignInParts {
  readonly store: Store
  readonly sessions: Sessions
  readonly rates?: Pick<RateSharing, 'of'> | undefined
  readonly addresses: { readonly baseUrl: string }
  readonly now: () => number
}

/** Opens sessions for people with passkeys and recovery codes, and lets invited people in. */
export function createSignIn(parts: SignInParts): SignIn {
  const { store, sessions, addresses, now } = parts
  const webauthn = createWebauthn(addresses.baseUrl)
  const limiter = createRateLimiter(undefined, parts.rates?.of('sign-in'))

  async function ask(purpose: ChallengePurpose, holder: string, challenge: string): Promise<void> {
    const at = now()
    await store.insertChallenge({
      hash: hashChallenge(challenge),
      purpose,
      holder,
      expiresAt: at + CHALLENGE_MS,
      now: at,
    })
  }

  /** @returns the challenge, which nobody can answer again */
  async function take(purpose: ChallengePurpose, holder: string, answer: string): Promise<string> {
    const challenge = webauthn.challengeOf(answer)
    if (!(await store.takeChallenge({ hash: hashChallenge(challenge), purpose, holder, now: now() })))
      throw refused('the challenge was not made for this, has expired or was answered before')
    return challenge
  }

  /** The passkey that answered, after it has shown that it is itself. */
  async function judge(answer: string, challenge: string, personId?: string): Promise<Passkey> {
    const passkey = await store.findPasskey(webauthn.credentialOf(answer))
    if (!passkey || passkey.personId !== (personId ?? passkey.personId))
      throw refused('nobody, or somebody else, has this passkey')
    try {
      const { counter, isBackedUp } = await webauthn.authenticate(answer, challenge, passkey)
      if (await store.noteAuthenticatorUse({ id: passkey.id, counter, isBackedUp, now: now() }))
        return passkey
      throw refused('the passkey has counted further before: there are two of it')
    } catch (thrown) {
      throw await withOwner(thrown, passkey)
    }
  }

  /** The same refusal, which says whose passkey it was. */
  async function withOwner(thrown: unknown, { personId: id }: Passkey): Promise<unknown> {
    if (!(thrown instanceof GatewayError)) return thrown
    const { code, message, reason, extras } = thrown
    const [first] = await store.membershipsOf(id)
    return new GatewayError(code, message, {
      cause: thrown,
      ...(reason !== undefined && { reason }),
      extras,
      about: first && { type: 'person', id, accountId: first.accountId },
    })
  }

  async function open(personId: string, method: SignInMethod, from: From): Promise<Opened> {
    const [first] = await store.membershipsOf(personId)
    if (!first)
      throw new GatewayError(
        'sign_in_failed',
        'You are a member of no account any more. Ask an owner for an invitation.',
      )
    const { token } = await actAs(actor(personId, from), () =>
      sessions.open({ personId, accountId: first.accountId, method, from }),
    )
    const signedIn = await token.use((text) => sessions.find(text))
    if (!signedIn) throw new GatewayError('sign_in_failed', 'This session was ended as it began.')
    return { signedIn, token }
  }

  async function spendCode(code: string, from: From): Promise<string> {
    const rate = await limiter.take('recovery codes', from.address, CODES_PER_MINUTE)
    if (rate?.exceeded)
      throw new GatewayError('rate_limited', `Try again in ${rate.resetSeconds} s.`, {
        extras: { retry_after_seconds: rate.resetSeconds },
      })
    const personId = await store.useRecoveryCode({ hash: hashRecoveryCode(code), now: now() })
    if (personId === undefined)
      throw new GatewayError(
        'sign_in_failed',
        'This recovery code is mistyped or was used before. Try another one, or ask an owner for a new passkey.',
      )
    return personId
  }

  function needFresh(signedIn: SignedIn): void {
    if (!isFresh(signedIn, now()))
      throw new GatewayError(
        'fresh_sign_in_required',
        'This changes how you sign in. Show again that it is you, and do it within five minutes.',
      )
  }

  async function registered(answer: string, challenge: string, personId: string, label: string) {
    const made = await webauthn.register(answer, challenge)
    const at = now()
    const passkey: Passkey = {
      id: newId('psk', at),
      personId,
      ...made,
      label,
      createdAt: at,
      usedAt: null,
    }
    return passkey
  }

  return {
    async askPasskey() {
      const { challenge, options } = await webauthn.requestOptions()
      await ask('sign_in', ANYBODY, challenge)
      return options
    },
    async withPasskey({ answer, from }) {
      const challenge = await take('sign_in', ANYBODY, answer)
      const { personId } = await judge(answer, challenge)
      return open(personId, 'passkey', from)
    },
    async withRecoveryCode({ code, from }) {
      return open(await spendCode(code, from), 'recovery', from)
    },

    async askAgain({ personId }) {
      const { challenge, options } = await webauthn.requestOptions(await store.listPasskeys(personId))
      await ask('fresh', personId, challenge)
      return options
    },
    async showAgain({ signedIn: { personId, sessionId }, answer, from }) {
      const challenge = await take('fresh', personId, answer)
      await judge(answer, challenge, personId)
      await actAs(actor(personId, from), () => sessions.freshen(sessionId))
    },
    async showAgainWithCode({ signedIn: { personId, sessionId }, code, from }) {
      if ((await spendCode(code, from)) !== personId)
        throw new GatewayError('sign_in_failed', 'This recovery code is not yours.')
      await actAs(actor(personId, from), () => sessions.freshen(sessionId))
    },

    async look(token) {
      const { name, role, accountId, personId } = await openInvitation(parts, token)
      const account = await store.getAccount(accountId)
      return { name, role, account: account?.name ?? '', isForMember: personId !== null }
    },
    async askJoin(token, name) {
      const { id, personId: member } = await openInvitation(parts, token)
      const personId = member ?? newId('per', now())
      const { challenge, options } = await webauthn.creationOptions({ personId, name, has: [] })
      await ask('join', `${id} ${personId}`, challenge)
      return { personId, options }
    },
    async join({ invitation: token, personId, name, answer, from }) {
      const invitation = await openInvitation(parts, token)
      const { id } = invitation
      const challenge = await take('join', `${id} ${personId}`, answer)
      const passkey = await registered(answer, challenge, personId, deviceOf(from))
      if (await store.findPasskey(passkey.credentialId)) throw refused('somebody has this passkey already')
      const codes = newRecoveryCodes()
      const at = now()
      const accepted = await actAs(actor(personId, from), () =>
        store.acceptInvitation({
          tokenHash: hashToken(token),
          person: { id: personId, name, createdAt: at, disabledAt: null },
          credentials: { passkey, recoveryHashes: codes.map(hashRecoveryCode) },
          now: at,
        }),
      )
      if (!accepted) throw invitationInvalid(invitation)
      return { ...(await open(personId, 'passkey', from)), codes }
    },
    async joinAs({ invitation: token, signedIn: { personId, name, sessionId }, from }) {
      const invitation = await openInvitation(parts, token)
      const { accountId, personId: member } = invitation
      // The link for somebody's new passkey is no way into their account for others.
      if (member !== null) throw invitationInvalid(invitation)
      const at = now()
      const accepted = await actAs(actor(personId, from), () =>
        store.acceptInvitation({
          tokenHash: hashToken(token),
          person: { id: personId, name, createdAt: at, disabledAt: null },
          now: at,
        }),
      )
      if (!accepted) throw invitationInvalid(invitation)
      await actAs(actor(personId, from), () => sessions.switchTo({ sessionId, personId, accountId }))
    },

    passkeys: (personId) => store.listPasskeys(personId),
    async askPasskeyToAdd(signedIn) {
      needFresh(signedIn)
      const { personId, name } = signedIn
      const has = await store.listPasskeys(personId)
      const { challenge, options } = await webauthn.creationOptions({ personId, name, has })
      await ask('add', personId, challenge)
      return options
    },
    async addPasskey({ signedIn, answer, label, from }) {
      needFresh(signedIn)
      const { personId, accountId } = signedIn
      const challenge = await take('add', personId, answer)
      const passkey = await registered(answer, challenge, personId, label === '' ? deviceOf(from) : label)
      const isAdded = await actAs(actor(personId, from), () =>
        store.addPasskey({ passkey, accountId, maxPasskeys: MAX_PASSKEYS }),
      )
      if (!isAdded)
        throw new GatewayError(
          'state_conflict',
          `This passkey is known already, or you have ${MAX_PASSKEYS}. Remove one first.`,
        )
    },
    async removePasskey({ signedIn, passkeyId, from }) {
      needFresh(signedIn)
      const { personId, accountId } = signedIn
      const outcome = await actAs(actor(personId, from), () =>
        store.removePasskey({ id: passkeyId, personId, accountId, now: now() }),
      )
      if (outcome === 'not_found') throw new GatewayError('not_found', 'You have no passkey of this id.')
      if (outcome === 'last')
        throw new GatewayError('state_conflict', 'This is your last passkey. Add another one first.')
    },
    recoveryCodesLeft: (personId) => store.countRecoveryCodes(personId),
    async newRecoveryCodes({ signedIn, from }) {
      needFresh(signedIn)
      const { personId, accountId } = signedIn
      const codes = newRecoveryCodes()
      await actAs(actor(personId, from), () =>
        store.replaceRecoveryCodes({ personId, accountId, hashes: codes.map(hashRecoveryCode), now: now() }),
      )
      return codes
    },
  }
}

const hashChallenge = (challenge: string) => hash('sha256', challenge, 'buffer')

const actor = (personId: string, { address }: From) =>
  ({ kind: 'person', id: personId, address, door: 'console' }) as const
