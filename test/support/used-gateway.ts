// What somebody has who used a gateway: receipts, tokens, a balance, payments that are spent. What each of them has to be good for later, after an upgrade
// and in a restored place, is in kept.ts.
import { copyFile, mkdtemp, readFile, realpath, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { must } from '../../src/lib/must.ts'
import { startTestChain, type TestChain } from './chain.ts'
import { freePort } from './free-port.ts'
import { createClient, type RestAnswer } from './gateway.ts'
import type { Installed, Serving, Variables } from './installed.ts'
import { removeFolder } from './remove-folder.ts'
import { type BoughtAnswer, createRestBuyer } from './rest-buyer.ts'

/** The money and the address of every gateway of a story, which run one after the other. */
export interface Stage {
  /** All files of the story: data, backups, key files, and what users keep. */
  readonly folder: string
  readonly chain: TestChain
  /** Variables of a sandbox whose data is in the folder `name`, or in the database beside it. */
  envOf(name: string, databaseUrl?: string): Variables
  nextPayer(): TestChain['payers'][number]
  close(): Promise<void>
}

export interface Receipt {
  readonly id: string
  readonly jws: string
}

/** A request with the payment that it was sent with: it can be sent again, and nothing may come of it. */
export interface PaidCall {
  readonly path: string
  readonly body: object
  readonly headers: Readonly<Record<string, string>>
}

export interface Holdings {
  readonly operatorKey: string
  /** A key that reads, and one that was revoked. */
  readonly auditorKey: string
  readonly revokedKey: string
  readonly capability: string
  /** Grows with each call that is charged. */
  readonly receipts: Receipt[]
  readonly payments: PaidCall[]
  /** A call under an idempotency key, with the attempt that it became. */
  readonly keyed: { readonly call: Record<string, unknown>; readonly attemptId: string }
  readonly usedPermit: { readonly permit: string; readonly attemptId: string }
  /** Each can be executed once; who does takes it out. */
  readonly openPermits: string[]
  /** The published keys and the audit log, as they were saved then. */
  readonly keysFile: string
  readonly auditFile: string
  /** Credits of the operator's account. */
  readonly balance: number
}

const SITE = 'sandbox.agent-gateway.test'
const SECRET = 'a-secret-that-outlives-releases'
const ORDER = { method: 'POST', url: `https://${SITE}/api/orders`, body: '{"tea":"green"}' }
export const WHOAMI = { method: 'GET', url: `https://${SITE}/api/whoami` }
const ARTICLE = { url: `https://${SITE}/article` }

export async function openStage(): Promise<Stage> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'gateway-story-')))
  const chain = await startTestChain(8453)
  // Beside everything else, for a gateway that is shown no other folder.
  const settlerKeyFile = join(folder, 'settler.key')
  await copyFile(chain.settlerKeyFile, settlerKeyFile)
  const port = await freePort()
  let paid = 0
  return {
    folder,
    chain,
    envOf: (name, databaseUrl) => ({
      GATEWAY_MODE: 'sandbox',
      HOST: '127.0.0.1',
      PORT: String(port),
      GATEWAY_DATA_DIR: join(folder, name),
      ...chain.env,
      GATEWAY_SETTLER_KEY_FILE: settlerKeyFile,
      // Nobody pays there; without an address the sandbox would run a chain of its own.
      GATEWAY_RPC_84532: 'http://127.0.0.1:9',
      ...(databaseUrl !== undefined && { GATEWAY_DATABASE_URL: databaseUrl }),
    }),
    nextPayer: () => must(chain.payers[paid++ % chain.payers.length], 'one of the payers'),
    async close() {
      await chain.close()
      await removeFolder(folder)
    },
  }
}

/** Calls of a user who holds the operator's key of a data directory. */
export async function clientOf(url: string, dataDir: string) {
  const operatorKey = (await readFile(join(dataDir, 'operator.key'), 'utf8')).trim()
  return { operatorKey, ...createClient(url, { operatorKey }) }
}
type Client = Awaited<ReturnType<typeof clientOf>>

/** @throws with the whole answer, where it is another */
function bodyOf({ status, text, body }: RestAnswer | BoughtAnswer, expected = 200) {
  if (status !== expected) throw new Error(`answered ${status} in place of ${expected}: ${text}`)
  return body
}
const receiptOf = ({ receipt }: { receipt: { receipt_id: string; jws: string } }): Receipt => ({
  id: receipt.receipt_id,
  jws: receipt.jws,
})

/** Pays for a call, and keeps what was sent. */
export async function pay(
  stage: Stage,
  url: string,
  { path, body, headers }: PaidCall,
): Promise<{ call: PaidCall; receipt: Receipt }> {
  const buyer = createRestBuyer(url, stage.nextPayer())
  const challenge = await buyer.send(path, body, headers)
  bodyOf(challenge, 402)
  const call = { path, body, headers: { ...headers, ...(await buyer.sign(challenge)) } }
  return { call, receipt: receiptOf(bodyOf(await buyer.send(path, body, call.headers))) }
}

export const buyArticle = (stage: Stage, url: string) =>
  pay(stage, url, { path: '/v1/tools/web.fetch', body: ARTICLE, headers: {} })

/** A permit for one order, which nobody has to approve. */
async function prepareOrder({ rest }: Client, credentialId: string): Promise<string> {
  const mandate = {
    purpose: 'Order green tea',
    credential_id: credentialId,
    host: SITE,
    path_prefix: '/api/orders',
    methods: ['POST'],
    max_calls: 10,
    expires_at: new Date(Date.now() + 3_600_000).toISOString(),
  }
  const prepared = await rest('POST', '/v1/actions/permits', {
    credential_id: credentialId,
    request: ORDER,
    mandate,
  })
  return bodyOf(prepared, 201).permit
}

/** Whoever holds a permit needs no key. */
export const execute = ({ rest }: Pick<Client, 'rest'>, permit: string) =>
  rest('POST', '/v1/actions/execute', { permit, request: ORDER }, '')

/**
 * Uses each thing once that a later release has to know of.
 * @param by the release, whose own commands write the files that users keep
 */
export async function useGateway(
  stage: Stage,
  by: Installed,
  serving: Serving,
  env: Variables,
): Promise<Holdings> {
  const { url } = serving
  const dataDir = must(env['GATEWAY_DATA_DIR'], 'a data directory')
  const client = await clientOf(url, dataDir)
  const { rest, operatorKey } = client
  const { credentialId, capability } = await client.grant({
    secret: SECRET,
    credential: { hosts: [SITE], path_prefixes: ['/api'] },
    capability: { ttl_seconds: 86_400 },
  })
  const looked = bodyOf(await client.fetch(capability, WHOAMI))
  const call = { ...ORDER, idempotency_key: 'order-of-yesterday' }
  const ordered = bodyOf(await client.fetch(capability, call))

  const bought = await pay(stage, url, {
    path: '/v1/credits/purchase',
    body: { credits: 7 },
    headers: { authorization: `Bearer ${operatorKey}` },
  })
  const article = await buyArticle(stage, url)

  const permit = await prepareOrder(client, credentialId)
  const executed = bodyOf(await execute(client, permit))
  const openPermits = [await prepareOrder(client, credentialId), await prepareOrder(client, credentialId)]

  const auditor = bodyOf(await rest('POST', '/v1/keys', { label: 'reads', role: 'auditor' }), 201)
  const revoked = bodyOf(await rest('POST', '/v1/keys', { label: 'was lost' }), 201)
  bodyOf(await rest('POST', `/v1/keys/${revoked.key_id}/revoke`, {}))

  const keysFile = join(stage.folder, `${basename(dataDir)}-keys.json`)
  await writeFile(keysFile, (await rest('GET', '/.well-known/gateway-egress-key.json')).text)
  const auditFile = join(stage.folder, `${basename(dataDir)}-audit.jsonl`)
  const exported = await by.run(['audit', 'export', '--out', auditFile], env)
  if (exported.code !== 0) throw new Error(`audit export: ${exported.stderr}`)
  return {
    operatorKey,
    auditorKey: auditor.key,
    revokedKey: revoked.key,
    capability,
    receipts: [receiptOf(looked), receiptOf(ordered), receiptOf(executed), bought.receipt, article.receipt],
    payments: [bought.call, article.call],
    keyed: { call, attemptId: ordered.attempt_id },
    usedPermit: { permit, attemptId: executed.attempt_id },
    openPermits,
    keysFile,
    auditFile,
    balance: await client.balance(),
  }
}
