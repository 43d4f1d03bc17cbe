// Who holds a permit may execute it, and what it is for is nobody's business: neither may be kept where it is not needed. Both
// go through everything that can happen to them, over three doors, and are then looked for in all that was logged and stored.
import { randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { beforeAll, describe, expect, it } from 'vitest'
import { actionsExecute } from '../../tools/actions-execute.ts'
import { actionsPrepare } from '../../tools/actions-prepare.ts'
import { type Body, createActionsClient } from '../support/actions.ts'
import { encodingsOf, findSecret } from '../support/encodings.ts'
import { type Engine, ENGINES, startTestGateway, type TestGateway } from '../support/gateway.ts'
import { READ_PATHS } from '../support/read-paths.ts'
import { throughDoor } from '../support/three-doors.ts'

const canary = () => `CANARY-${randomBytes(18).toString('hex')}`

interface Evidence {
  readonly permits: readonly string[]
  /** Answers of every call but the preparations. */
  readonly answers: string
  readonly log: string
  readonly files: Buffer
  /** Rows while a permit waits, and once all is decided. */
  readonly rowsWaiting: string
  readonly rows: string
  readonly waitingId: string
}

async function readRows(gw: TestGateway): Promise<string> {
  const url = gw.env['GATEWAY_DATABASE_URL']
  const dump = (rows: readonly unknown[]) => rows.map((row) => JSON.stringify(row)).join('\n')
  if (url === undefined) {
    const db = new DatabaseSync(join(gw.env['GATEWAY_DATA_DIR']!, 'gateway.db'), {
      readOnly: true,
      timeout: 5000,
    })
    try {
      const tables = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all()
      return tables.map(({ name }) => dump(db.prepare(`SELECT * FROM "${String(name)}"`).all())).join('\n')
    } finally {
      db.close()
    }
  }
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const tables = await client.query<{ name: string }>(
      `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
       WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
    )
    const texts: string[] = []
    for (const { name } of tables.rows) texts.push(dump((await client.query(`SELECT * FROM ${name}`)).rows))
    return texts.join('\n')
  } finally {
    await client.end()
  }
}

async function readFiles(directory: string): Promise<Buffer> {
  const files = await readdir(directory, { recursive: true, withFileTypes: true })
  return Buffer.concat(
    await Promise.all(
      files.filter((file) => file.isFile()).map((file) => readFile(join(file.parentPath, file.name))),
    ),
  )
}

/** @param body of requests that nobody has to approve, and `approved` of those that somebody has to */
async function gatherEvidence(
  engine: Engine,
  { body, approved }: { body: string; approved: string },
): Promise<Evidence> {
  const gw = await startTestGateway({ engine, env: { GATEWAY_LOG_LEVEL: 'trace' } })
  try {
    const actions = await createActionsClient(gw, gw.url)
    const permits: string[] = []
    const answers: string[] = []
    const send = (path: string, init: RequestInit) => fetch(gw.baseUrl + path, init)
    const request = (text = body) => actions.request({ body: text, url: gw.url(`/v1/orders?note=${text}`) })
    async function prepare(door: 'rest' | 'mcp' | 'a2a', text = body, terms: Body = {}) {
      const given = {
        credential_id: actions.credentialId,
        request: request(text),
        mandate: actions.mandate(terms),
      }
      const { output } = await throughDoor[door](send, actionsPrepare, given, gw.operatorKey)
      const { permit, permit_id } = output as { permit: string; permit_id: string }
      permits.push(permit)
      return { permit, permit_id }
    }
    async function execute(door: 'rest' | 'mcp' | 'a2a', permit: string, asked: Body = request()) {
      answers.push(
        (await throughDoor[door](send, actionsExecute, { permit, request: asked }, gw.operatorKey)).raw,
      )
    }
    const decide = async (permitId: string, decision: string) =>
      answers.push((await gw.rest('POST', `/v1/actions/permits/${permitId}/${decision}`)).text)

    for (const door of ['rest', 'mcp', 'a2a'] as const) {
      const { permit } = await prepare(door)
      await execute(door, permit, actions.request({ body: `${body}-other` }))
      await execute(door, permit, actions.request({ url: `http://${body}/` }))
      await execute(door, permit, { ...request(), body_base64: 'YQ==' })
      await execute(door, permit, { ...request(), method: 'TRACE' })
      await execute(door, `${permit}A`)
      await execute(door, permit)
      await execute(door, permit)
    }
    for (const respond of ['reset', 'unsound'] as const) {
      gw.upstream.respond((_request, res) =>
        respond === 'reset' ? res.destroy() : res.writeHead(200, { 'content-encoding': 'gzip' }).end('x'),
      )
      for (const door of ['rest', 'mcp', 'a2a'] as const) await execute(door, (await prepare(door)).permit)
    }
    // As an agent might that does not know how: everything in the words of a message.
    for (const text of [
      `please execute ${permits[0]}`,
      JSON.stringify({ skill: 'actions-execute', input: { permit: permits[0], request: request() } }),
    ])
      answers.push(
        await (
          await send('/a2a', {
            method: 'POST',
            headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
            body: JSON.stringify({
              jsonrpc: '2.0',
              id: 1,
              method: 'SendMessage',
              params: { message: { messageId: canary(), role: 'ROLE_USER', parts: [{ text }] } },
            }),
          })
        ).text(),
      )

    const [yes, no, waiting] = [
      await prepare('rest', approved, { requires_approval: true }),
      await prepare('mcp', approved, { requires_approval: true }),
      await prepare('a2a', approved, { requires_approval: true }),
    ]
    const rowsWaiting = await readRows(gw)
    await decide(yes.permit_id, 'approve')
    await decide(no.permit_id, 'refuse')
    await decide(waiting.permit_id, 'approve')
    for (const path of READ_PATHS) answers.push((await gw.rest('GET', path)).text)
    return {
      permits,
      answers: answers.join('\n'),
      log: gw.log(),
      files: await readFiles(gw.dataDir),
      rowsWaiting,
      rows: await readRows(gw),
      waitingId: waiting.permit_id,
    }
  } finally {
    await gw.close()
  }
}

describe.each(ENGINES)('permits and what they are for (%s)', (engine) => {
  const secrets = { body: canary(), approved: canary() }
  const found = (text: string | Buffer, ...needles: string[]) =>
    needles.flatMap((needle) => findSecret(text, encodingsOf(needle)))
  let evidence: Evidence
  let signatures: string[]
  beforeAll(async () => {
    evidence = await gatherEvidence(engine, secrets)
    signatures = evidence.permits.map((permit) => permit.split('.')[2]!)
  })

  it('went through everything', () => {
    expect(evidence.permits).toHaveLength(12)
    for (const code of 'permit_used permit_mismatch permit_invalid input_invalid outcome_ambiguous'.split(
      ' ',
    ))
      expect(evidence.answers).toContain(code)
    expect(evidence.answers).toContain('TASK_STATE_COMPLETED')
    expect(evidence.log).toContain('gateway.actions.execute')
    expect(evidence.rows).toContain(evidence.waitingId)
  })

  it('are in no answer but that of the preparation, no log line and no stored row or task', () => {
    for (const [where, text] of Object.entries({ ...evidence, permits: '', files: '', waitingId: '' })) {
      expect(found(String(text), ...signatures), where).toEqual([])
      expect(found(String(text), secrets.body), where).toEqual([])
    }
  })

  it('leave nothing in any file of the data directory', () => {
    expect(evidence.files.length).toBeGreaterThan(1000)
    expect(found(evidence.files, ...signatures)).toEqual([])
    expect(found(evidence.files, secrets.body)).toEqual([])
  })

  it('are kept for whoever has to approve, and only until then', () => {
    expect(found(evidence.rowsWaiting, secrets.approved)).not.toEqual([])
    expect(found(evidence.rows, secrets.approved)).toEqual([])
    expect(found(evidence.log + evidence.answers, secrets.approved)).toEqual([])
  })
})
