// An account for trying things in a sandbox: made in this page, in no storage, gone with it. Loaded only when somebody asks for one.
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import type { Account } from '../../components/onboarding/wallet.ts'

export function makeTestAccount(): Account {
  const account = privateKeyToAccount(generatePrivateKey())
  return {
    address: account.address,
    isTest: true,
    sign: (message) => account.signMessage({ message }),
  }
}
