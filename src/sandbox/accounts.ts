// Keeps the keys of the sandbox: of the payer, of the accounts that submit, of the payee. They are made once per data
// directory and are worth nothing anywhere else.
import { createECDH } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { z } from 'zod'
import { ConfigError } from '../core/errors.ts'
import { createFile } from '../receipts/adapters/key-file.ts'
import { Secret } from '../lib/secret.ts'
import { shellQuote } from '../lib/shell-quote.ts'

export interface SandboxAccount {
  /** Checksummed. */
  readonly address: string
  /** 0x and 64 hex digits. */
  readonly privateKey: Secret<string>
}

export interface SandboxAccounts {
  readonly payer: SandboxAccount
  readonly settlers: readonly SandboxAccount[]
  readonly payTo: SandboxAccount
}

const SETTLERS = 2

const Account = z.strictObject({
  address: z.string().regex(/^0x[0-9a-fA-F]{40}$/),
  private_key: z.string().regex(/^0x[0-9a-f]{64}$/),
})
const File = z.strictObject({
  note: z.string(),
  payer: Account,
  settlers: z.array(Account).min(1).max(16),
  pay_to: Account,
})

/** Reads the file, or makes it. Never replaces one. @throws {ConfigError} */
export async function openSandboxAccounts(file: string): Promise<SandboxAccounts> {
  const text = (await read(file)) ?? (await create(file))
  const parsed = parse(text)
  if (!parsed)
    throw new ConfigError([
      `${file} does not hold the sandbox accounts: restore it, or delete it with the chains`,
    ])
  return {
    payer: toAccount(parsed.payer),
    settlers: parsed.settlers.map(toAccount),
    payTo: toAccount(parsed.pay_to),
  }
}

const toAccount = ({ address, private_key }: z.infer<typeof Account>): SandboxAccount => ({
  address,
  privateKey: new Secret(private_key),
})

function parse(text: string) {
  try {
    return File.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}

async function read(file: string): Promise<string | undefined> {
  try {
    const { mode } = await stat(file)
    if ((mode & 0o077) !== 0)
      throw new ConfigError([
        `${file} holds private keys: only its owner may read it (chmod 600 ${shellQuote(file)})`,
      ])
    return await readFile(file, 'utf8')
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw thrown
  }
}

/** Another process may have come first: then its file counts. */
async function create(file: string): Promise<string> {
  const [payer, payTo, ...settlers] = await Promise.all([
    generate(),
    generate(),
    ...Array.from({ length: SETTLERS }, generate),
  ])
  const content: z.infer<typeof File> = {
    note: 'Test accounts of the sandbox chains. Never send real money to them.',
    payer,
    settlers,
    pay_to: payTo,
  }
  await createFile(file, `${JSON.stringify(content, null, 2)}\n`)
  return readFile(file, 'utf8')
}

async function generate(): Promise<z.infer<typeof Account>> {
  const [Address, PublicKey] = await Promise.all([import('ox/Address'), import('ox/PublicKey')])
  const ecdh = createECDH('secp256k1')
  const publicKey = PublicKey.fromHex(`0x${ecdh.generateKeys('hex')}`)
  return {
    address: Address.checksum(Address.fromPublicKey(publicKey)),
    private_key: `0x${ecdh.getPrivateKey('hex').padStart(64, '0')}`,
  }
}
