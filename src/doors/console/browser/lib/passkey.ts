// Passkeys in the browser: asks the page that it is on for a challenge, and the device for the answer.
import {
  browserSupportsWebAuthn,
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  startAuthentication,
  startRegistration,
} from '@simplewebauthn/browser'

/** A refusal in words for the person. */
export class PasskeyRefusal extends Error {}

export interface PasskeyWords {
  readonly passkeyAborted: string
  readonly passkeyExists: string
  readonly passkeyImpossible: string
}

/**
 * Sends a form of the console from a script.
 * @returns what the page answers, as data
 * @throws {PasskeyRefusal} in the words of the gateway
 */
export async function send<T>(to: string, form: Readonly<Record<string, string>>): Promise<T> {
  const answer = await fetch(to, {
    method: 'POST',
    headers: { accept: 'application/json' },
    body: new URLSearchParams(form),
  })
  const data = (await answer.json()) as T & { detail?: string }
  if (!answer.ok) throw new PasskeyRefusal(data.detail ?? String(answer.status))
  return data
}

/** @returns the answer of the device, as the form of the page takes it. @throws {PasskeyRefusal} */
export const usePasskey = (options: object, words: PasskeyWords): Promise<string> =>
  answered(words, () =>
    startAuthentication({ optionsJSON: options as PublicKeyCredentialRequestOptionsJSON }),
  )

/** @returns the new passkey, as the form of the page takes it. @throws {PasskeyRefusal} */
export const makePasskey = (options: object, words: PasskeyWords): Promise<string> =>
  answered(words, () => startRegistration({ optionsJSON: options as PublicKeyCredentialCreationOptionsJSON }))

async function answered(words: PasskeyWords, start: () => Promise<unknown>): Promise<string> {
  if (!browserSupportsWebAuthn()) throw new PasskeyRefusal(words.passkeyImpossible)
  try {
    return JSON.stringify(await start())
  } catch (thrown) {
    const name = thrown instanceof Error ? thrown.name : ''
    if (name === 'InvalidStateError') throw new PasskeyRefusal(words.passkeyExists)
    throw new PasskeyRefusal(name === 'SecurityError' ? words.passkeyImpossible : words.passkeyAborted)
  }
}

/** The words for whatever went wrong. */
export const wordsOf = (thrown: unknown, words: PasskeyWords): string =>
  thrown instanceof PasskeyRefusal ? thrown.message : words.passkeyAborted
