// Who signs: a wallet of the browser (EIP-1193), or in a sandbox an account that this page makes and forgets.

/** An account that signs texts as EIP-191 has it. */
export interface Account {
  readonly address: string
  readonly isTest: boolean
  /** @returns 65 bytes as 0x hex */
  sign(text: string): Promise<string>
}

interface Provider {
  request(call: { readonly method: string; readonly params?: readonly unknown[] }): Promise<unknown>
}

/** The wallet of this browser, if it has one. */
export function findProvider(): Provider | undefined {
  const found: unknown = Reflect.get(globalThis, 'ethereum')
  return typeof found === 'object' && found !== null && 'request' in found ? (found as Provider) : undefined
}

/** Asks the wallet for an account. @throws where its owner refuses */
export async function accountOf(provider: Provider): Promise<Account> {
  const found = await provider.request({ method: 'eth_requestAccounts' })
  const [address] = Array.isArray(found) ? found : []
  if (typeof address !== 'string') throw new Error('no account')
  return {
    address,
    isTest: false,
    sign: async (text) => {
      const bytes = [...new TextEncoder().encode(text)]
      const hex = `0x${bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('')}`
      return String(await provider.request({ method: 'personal_sign', params: [hex, address] }))
    },
  }
}
