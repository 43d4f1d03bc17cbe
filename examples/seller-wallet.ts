// npx node examples/seller-wallet.ts
// The payout account of a seller: prints its address and, for each origin that is named, the signature that proves it. Any wallet does
// the same with personal_sign; this one keeps its key in a file.
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'

const file = resolve(process.env.GATEWAY_DATA_DIR ?? 'data', 'seller-wallet.key')
if (!existsSync(file)) {
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, generatePrivateKey(), { mode: 0o600, flag: 'wx' })
}
const account = privateKeyToAccount((await readFile(file, 'utf8')).trim() as `0x${string}`)

const origins = process.argv.slice(2)
if (origins.length === 0) console.log(account.address)
for (const message of origins) console.log(await account.signMessage({ message }))
