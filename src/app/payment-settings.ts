// Judges the operator's settings about money before anything listens: a settler key that does not work would
// otherwise show when the first payment is to be settled, which is the worst moment.
import { createECDH, createHash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { ConfigError } from '../core/errors.ts'
import type { Config } from '../core/config.ts'
import { isPrivateFile } from '../lib/private-file.ts'
import { shellQuote } from '../lib/shell-quote.ts'
import { Secret } from '../lib/secret.ts'
import { isSpelledRight, listChainProblems } from './chain-variables.ts'

type MoneyConfig = Pick<
  Config,
  'mode' | 'payTo' | 'facilitators' | 'rpcUrls' | 'settlerKeyFiles' | 'refundKeyFile' | 'payoutKeyFile'
>
type ChainConfig = Pick<Config, 'paymentAssets'>

export interface PaymentSetup {
  /** The keys in the files of GATEWAY_SETTLER_KEY_FILE, in their order. */
  readonly settlerKeys: readonly Secret<string>[]
  /** The key in the file of GATEWAY_REFUND_KEY_FILE. */
  readonly refundKey: Secret<string> | undefined
  /** The key in the file of GATEWAY_PAYOUT_KEY_FILE. */
  readonly payoutKey: Secret<string> | undefined
  /** Sentences that say what will not work and what to set; the gateway starts all the same. */
  readonly warnings: readonly string[]
}

/** SHA-256 of the private keys that every development chain (anvil, hardhat, ganache) gives its first accounts. */
const PUBLISHED_KEYS = new Set([
  '60a09e4357868c1e9b801052726d061c370429f723db84523ed58ac354f6eb8a',
  '095101cf732c298a0ce0320b9de704209cdd8640b70d8fdf4e5be51aa2eb272e',
  'bb4978fbe7638de8e6ee13d9a59a5fb047beb0f0ee059fe166541b1f96b6af63',
  'f02322197a196ceb746aa52cee2a869abf0fe231c4d6d050a8a5f02c6625a1d4',
  '5de22089c247b9b2722ec5c33498e6bc481b1faba85f4da957f8b84679fcf88c',
  '59feecfa04eb096ba44eed297e4239fa32d8840cbc1ffb8ff2f7fd8e8e0edd38',
  'b69d88ff1ad5834ab1d8ed45f20d72b6ccf3429c9ccc75b93d14ca0ee00dec16',
  'b6b9ee08c38f62da71fa150a8ada4a7a09c7d3c4a9f6445e51e5a4b2c6395368',
  'be394de37f9d6cf6682434e9f15a4f891eca9b614bf79da2da22a8e48a658fcd',
  'dd0102d1cd0c6ac702573e3e7551fc6cec26596b6287348804c1b0f9544b5bf9',
])
/** Their addresses, in lower case, and the one that nobody can spend from. */
const PUBLISHED_ACCOUNTS = new Set([
  '0x0000000000000000000000000000000000000000',
  '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
  '0x70997970c51812dc3a010c7d01b50e0d17dc79c8',
  '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc',
  '0x90f79bf6eb2c4f870365e785982e1f101e93b906',
  '0x15d34aaf54267db7d7c367839aaf71a00a2c6a65',
  '0x9965507d1a55bcc2695c58ba16fb37d819b0a4dc',
  '0x976ea74026e726554db657fa54763abd0c3a0aa9',
  '0x14dc79964da2c08b23698b3d3cc7ca32193d9955',
  '0x23618e81e3f5cdf7f54c3d65f7fbc0abf5b21e8f',
  '0xa0ee7a142d267c1f36714e4a8f75612f20a79720',
])

/** @throws {ConfigError} naming every problem */
export async function readPaymentSetup(config: MoneyConfig & ChainConfig): Promise<PaymentSetup> {
  const problems = [...(await listChainProblems(config)), ...listProblems(config)]
  if (config.payTo !== undefined && !(await isSpelledRight(config.payTo)))
    problems.push(
      'GATEWAY_PAY_TO is mistyped: its capitals do not fit the rest of it (EIP-55). Copy it again from your wallet',
    )
  const settlerKeys: Secret<string>[] = []
  const seen = new Map<string, string>()
  for (const file of config.settlerKeyFiles)
    try {
      const key = await readKey('GATEWAY_SETTLER_KEY_FILE', file, config.mode)
      const digest = key.use((text) => sha256(text.toLowerCase()))
      const other = seen.get(digest)
      // Two senders of one account would take each other's nonces.
      if (other !== undefined)
        problems.push(
          `GATEWAY_SETTLER_KEY_FILE: ${other} and ${file} hold the same key: name each account once`,
        )
      seen.set(digest, file)
      settlerKeys.push(key)
    } catch (thrown) {
      if (!(thrown instanceof ConfigError)) throw thrown
      problems.push(...thrown.problems)
    }
  async function readOptional(variable: KeyVariable, file: string | undefined) {
    if (file === undefined) return undefined
    try {
      return await readKey(variable, file, config.mode)
    } catch (thrown) {
      if (!(thrown instanceof ConfigError)) throw thrown
      problems.push(...thrown.problems)
      return undefined
    }
  }
  const refundKey = await readOptional('GATEWAY_REFUND_KEY_FILE', config.refundKeyFile)
  const payoutKey = await readOptional('GATEWAY_PAYOUT_KEY_FILE', config.payoutKeyFile)
  if (problems.length > 0) throw new ConfigError(problems)
  return { settlerKeys, refundKey, payoutKey, warnings: listWarnings(config) }
}

function listProblems({ mode, payTo, rpcUrls, settlerKeyFiles }: MoneyConfig): string[] {
  const chainIds = Object.keys(rpcUrls).map(Number)
  const problems: string[] = []
  if (mode !== 'production') return problems
  if (payTo !== undefined && PUBLISHED_ACCOUNTS.has(payTo.toLowerCase()))
    problems.push(
      'GATEWAY_PAY_TO is a development account that anybody or nobody can spend from: name one of yours',
    )
  if (settlerKeyFiles.length > 0 && chainIds.length === 0)
    problems.push(
      'GATEWAY_SETTLER_KEY_FILE has no chain to settle on: set GATEWAY_RPC_<chain id>, e.g. GATEWAY_RPC_8453',
    )
  return problems
}

/** Each reads on from "payments:". */
export function listWarnings({
  mode,
  payTo,
  facilitators,
  rpcUrls,
  settlerKeyFiles,
}: MoneyConfig): readonly string[] {
  const warnings: string[] = []
  if (facilitators.length > 0 && settlerKeyFiles.length > 0)
    warnings.push('GATEWAY_SETTLER_KEY_FILE is not used, because GATEWAY_FACILITATORS is set')
  if (mode !== 'production') return warnings
  if (payTo === undefined) warnings.push('nobody can pay: set GATEWAY_PAY_TO to the address that is paid')
  if (Object.keys(rpcUrls).length === 0)
    warnings.push(
      'no chain proves a payment: set GATEWAY_RPC_<chain id>, e.g. GATEWAY_RPC_8453, to a JSON-RPC endpoint',
    )
  if (facilitators.length === 0 && settlerKeyFiles.length === 0)
    warnings.push('nobody settles payments: set GATEWAY_FACILITATORS or GATEWAY_SETTLER_KEY_FILE')
  return warnings
}

/** What the account of each key does. */
const WORK = {
  GATEWAY_SETTLER_KEY_FILE: 'settles',
  GATEWAY_REFUND_KEY_FILE: 'refunds',
  GATEWAY_PAYOUT_KEY_FILE: 'pays sellers',
} as const
type KeyVariable = keyof typeof WORK

/** @throws {ConfigError} when it is not there, not private, not a key, or in production a key that everybody knows */
async function readKey(variable: KeyVariable, file: string, mode: Config['mode']): Promise<Secret<string>> {
  const refuse = (words: string): never => {
    throw new ConfigError([`${variable}: ${file} ${words}`])
  }
  const work = WORK[variable]
  const text = await readPrivate(file, work, refuse)
  if (!isPrivateKey(text)) refuse('must hold one private key: 0x and 64 hex digits')
  if (mode === 'production' && PUBLISHED_KEYS.has(sha256(text.toLowerCase())))
    refuse('holds a development key that everybody knows: production needs one of its own')
  return new Secret(text)
}

async function readPrivate(file: string, work: string, refuse: (words: string) => never): Promise<string> {
  try {
    const info = await stat(file)
    if (!info.isFile()) refuse('is not a file')
    if (!isPrivateFile(info)) refuse(`may be read by others: chmod 600 ${shellQuote(file)}`)
    return (await readFile(file, 'utf8')).trim()
  } catch (thrown) {
    if (thrown instanceof ConfigError) throw thrown
    const { code } = thrown as NodeJS.ErrnoException
    return refuse(
      code === 'ENOENT'
        ? `does not exist: write the private key of the account that ${work} into it (0600)`
        : `cannot be read (${code ?? 'error'}): give it to the user that runs the gateway`,
    )
  }
}

function isPrivateKey(text: string): boolean {
  if (!/^0x[0-9a-fA-F]{64}$/.test(text)) return false
  try {
    // Zero and numbers beyond the curve are no keys.
    createECDH('secp256k1').setPrivateKey(text.slice(2), 'hex')
    return true
  } catch {
    return false
  }
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
