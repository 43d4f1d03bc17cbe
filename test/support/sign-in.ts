// A payer that signs in with the stock client of x402's extension, as the answer that asked for it says.
import { createSIWxPayload, encodeSIWxHeader, type SIWxPayload } from '@x402/extensions/sign-in-with-x'
import type { Hex, PrivateKeyAccount } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { SignInChallenge } from '../../schemas/sign-in.ts'
import type { PresentedSignIn } from '../../src/core/charging.ts'
import { Secret } from '../../src/lib/secret.ts'

/** @param over of the challenge, where a test changes what is signed */
export function signIn(
  account: PrivateKeyAccount,
  { info, supportedChains }: SignInChallenge,
  over: Partial<SignInChallenge['info'] & { chainId: string }> = {},
): Promise<SIWxPayload> {
  const { chainId = supportedChains[0]?.chainId ?? '', ...rest } = over
  const signed = { ...info, ...rest }
  return createSIWxPayload({ ...signed, chainId, type: 'eip191' }, account, signed.uri)
}

/** The same with the address of a contract wallet whose owner signs. */
export async function signInAs(
  wallet: Hex,
  owner: PrivateKeyAccount,
  challenge: SignInChallenge,
): Promise<SIWxPayload> {
  return signIn(
    { ...privateKeyToAccount(`0x${'1'.repeat(64)}`), address: wallet, signMessage: owner.signMessage },
    challenge,
  )
}

export const signInHeader = (proof: SIWxPayload) => ({ 'sign-in-with-x': encodeSIWxHeader(proof) })

export const presentSignIn = (proof: unknown): PresentedSignIn => ({
  value: new Secret(typeof proof === 'string' ? proof : encodeSIWxHeader(proof as SIWxPayload)),
})
