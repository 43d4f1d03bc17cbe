// Passkeys as the W3C's Web Authentication has them: what a browser is asked for, and whether its answer is right. The library costs 26 MB
// and a third of a second, so it is loaded with the first sign-in.
import { z } from 'zod'
import { GatewayError } from '../core/errors.ts'
import { isObject } from '../lib/json.ts'
import { decodeUtf8 } from '../lib/utf8.ts'
import type { Passkey } from '../store/ports.ts'
import type { PasskeyOptions } from './ports.ts'

/** So long somebody may take to find their key. */
export const CHALLENGE_MS = 5 * 60_000

const library = () => import('@simplewebauthn/server')

const Base64url = z
  .string()
  .min(1)
  .max(8192)
  .regex(/^[\w-]+$/)
const Common = {
  id: Base64url,
  rawId: Base64url,
  type: z.literal('public-key'),
  authenticatorAttachment: z.enum(['cross-platform', 'platform']).optional(),
}
const Transports = z.enum(['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'])
const Registration = z.object({
  ...Common,
  response: z.object({
    clientDataJSON: Base64url,
    attestationObject: z
      .string()
      .max(65_536)
      .regex(/^[\w-]+$/),
    // One that the library does not know is left out.
    transports: z
      .array(z.unknown())
      .max(20)
      .transform((list) => list.flatMap((text) => Transports.safeParse(text).data ?? []))
      .optional(),
  }),
})
const Authentication = z.object({
  ...Common,
  response: z.object({
    clientDataJSON: Base64url,
    authenticatorData: Base64url,
    signature: Base64url,
    userHandle: Base64url.optional(),
  }),
})

export interface Webauthn {
  /** Options for `navigator.credentials.get`: of these passkeys, or of any that the authenticator knows for this gateway. */
  requestOptions(
    passkeys?: readonly Passkey[],
  ): Promise<{ readonly challenge: string; readonly options: PasskeyOptions }>
  /** Options for `navigator.credentials.create`. */
  creationOptions(input: {
    personId: string
    name: string
    has: readonly Passkey[]
  }): Promise<{ readonly challenge: string; readonly options: PasskeyOptions }>
  /** The challenge that an answer is to. @throws {GatewayError} sign_in_failed */
  challengeOf(answer: string): string
  /** Name of the passkey that answered. @throws {GatewayError} sign_in_failed */
  credentialOf(answer: string): string
  /** @throws {GatewayError} sign_in_failed */
  register(
    answer: string,
    challenge: string,
  ): Promise<Pick<Passkey, 'credentialId' | 'publicKey' | 'counter' | 'transports' | 'isBackedUp'>>
  /** @returns uses that the authenticator has counted by now. @throws {GatewayError} sign_in_failed */
  authenticate(
    answer: string,
    challenge: string,
    passkey: Passkey,
  ): Promise<{ readonly counter: number; readonly isBackedUp: boolean }>
}

/** @param baseUrl address that people are shown: its host is what passkeys belong to, its origin where they are used */
export function createWebauthn(baseUrl: string): Webauthn {
  const { hostname: rpID, origin } = new URL(baseUrl)

  return {
    async requestOptions(passkeys) {
      const { generateAuthenticationOptions } = await library()
      const options = await generateAuthenticationOptions({
        rpID,
        userVerification: 'required',
        timeout: CHALLENGE_MS,
        ...(passkeys && { allowCredentials: passkeys.map(named) }),
      })
      return { challenge: options.challenge, options: { ...options } }
    },
    async creationOptions({ personId, name, has }) {
      const { generateRegistrationOptions } = await library()
      const options = await generateRegistrationOptions({
        rpName: 'Agent Gateway',
        rpID,
        userID: new Uint8Array(Buffer.from(personId)),
        userName: name,
        userDisplayName: name,
        timeout: CHALLENGE_MS,
        attestationType: 'none',
        excludeCredentials: has.map(named),
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      })
      return { challenge: options.challenge, options: { ...options } }
    },
    challengeOf(answer) {
      const { response } = read(z.object({ response: z.object({ clientDataJSON: Base64url }) }), answer)
      const data = parse(decodeUtf8(Buffer.from(response.clientDataJSON, 'base64url')))
      if (!isObject(data) || typeof data['challenge'] !== 'string')
        throw refused('client data without a challenge')
      return data['challenge']
    },
    credentialOf: (answer) => read(Authentication, answer).id,
    async register(answer, expectedChallenge) {
      const { response, authenticatorAttachment: attachment, ...rest } = read(Registration, answer)
      const { transports, ...others } = response
      const { verifyRegistrationResponse } = await library()
      const { verified, registrationInfo } = await judged(
        verifyRegistrationResponse({
          response: {
            ...rest,
            ...(attachment && { authenticatorAttachment: attachment }),
            clientExtensionResults: {},
            response: { ...others, ...(transports && { transports }) },
          },
          expectedChallenge,
          expectedOrigin: origin,
          expectedRPID: rpID,
          requireUserVerification: true,
        }),
      )
      if (!verified) throw refused('the attestation does not verify')
      const { credential, credentialBackedUp } = registrationInfo
      return {
        credentialId: credential.id,
        publicKey: credential.publicKey,
        counter: credential.counter,
        transports: credential.transports ?? [],
        isBackedUp: credentialBackedUp,
      }
    },
    async authenticate(answer, expectedChallenge, passkey) {
      const { response, authenticatorAttachment: attachment, ...rest } = read(Authentication, answer)
      const { userHandle, ...others } = response
      // The authenticator says whose key it is; without it the key was asked for by its name.
      if (
        userHandle !== undefined &&
        Buffer.from(userHandle, 'base64url').toString('latin1') !== passkey.personId
      )
        throw refused('the passkey names another person')
      const { verifyAuthenticationResponse } = await library()
      const { verified, authenticationInfo } = await judged(
        verifyAuthenticationResponse({
          response: {
            ...rest,
            ...(attachment && { authenticatorAttachment: attachment }),
            clientExtensionResults: {},
            response: { ...others, ...(userHandle !== undefined && { userHandle }) },
          },
          expectedChallenge,
          expectedOrigin: origin,
          expectedRPID: rpID,
          credential: {
            id: passkey.credentialId,
            publicKey: new Uint8Array(passkey.publicKey),
            // Whether it went on counting is decided where it is written down, once for all replicas.
            counter: 0,
          },
          requireUserVerification: true,
        }),
      )
      if (!verified) throw refused('the signature does not verify')
      return { counter: authenticationInfo.newCounter, isBackedUp: authenticationInfo.credentialBackedUp }
    },
  }
}

const named = ({ credentialId, transports }: Passkey) => ({
  id: credentialId,
  transports: transports.flatMap((text) => Transports.safeParse(text).data ?? []),
})

/** Whatever is wrong with an answer, its sender learns that it was not accepted; the log says why. */
export const refused = (reason: string, cause?: unknown) =>
  new GatewayError('sign_in_failed', 'This passkey was not accepted. Try again, or use a recovery code.', {
    reason,
    cause,
  })

/** The library throws what it finds wrong. */
async function judged<T>(verifying: Promise<T>): Promise<T> {
  try {
    return await verifying
  } catch (thrown) {
    throw refused(thrown instanceof Error ? thrown.message : 'the answer does not verify', thrown)
  }
}

function read<T>(schema: z.ZodType<T>, answer: string): T {
  const { data, success } = schema.safeParse(parse(answer))
  if (!success) throw refused('the answer has another shape')
  return data
}

function parse(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}
