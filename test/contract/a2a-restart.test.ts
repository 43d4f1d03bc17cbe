// Tasks in the real embedded store: what was acknowledged is there after a restart, and lists page through it.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { loadConfig } from '../../src/app/config.ts'
import { createLogger } from '../../src/lib/log.ts'
import { openStore } from '../../src/store/index.ts'
import type { Store } from '../../src/store/ports.ts'
import { hashToken } from '../../src/lib/tokens.ts'
import {
  bearer,
  type DoorUnderTest,
  KEY_A,
  message,
  rpc,
  sendTask,
  startA2aDoor,
} from '../support/a2a-door.ts'

let dataDir: string
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'gateway-a2a-'))
})
afterAll(() => rm(dataDir, { recursive: true, force: true }))

const open = () =>
  openStore({
    config: loadConfig({ GATEWAY_DATA_DIR: dataDir }),
    log: createLogger('silent'),
    bootId: crypto.randomUUID(),
  })
const start = async (): Promise<{ store: Store; door: DoorUnderTest }> => {
  const store = await open()
  return { store, door: await startA2aDoor({ store }) }
}

test('a task survives a restart, one at work ends with a message, and the list has both', async () => {
  const first = await start()
  await first.store.createAccount({
    account: { id: 'acct_a', name: 'a', createdAt: 0 },
    key: {
      id: 'key_a',
      accountId: 'acct_a',
      label: '',
      admin: false,
      role: 'operator',
      createdAt: 0,
      revokedAt: null,
    },
    keyHash: hashToken(KEY_A),
    grant: { transactionId: 'txn_a', amount: 1, reference: 'free' },
  })
  const done = await sendTask(first.door, { skill: 'echo', input: { text: 'kept' } }, bearer(KEY_A))
  const params = {
    message: message({ skill: 'wait', input: {} }),
    configuration: { returnImmediately: true },
  }
  const { id } = (await rpc(first.door, 'SendMessage', params, bearer(KEY_A))).body.result.task
  // Closing the store first is as much of a crash as one process can have: the work in hand never gets to write its end.
  await first.store.close()
  await first.door.close()

  const second = await start()
  try {
    expect((await rpc(second.door, 'GetTask', { id: done.id }, bearer(KEY_A))).body.result).toEqual(done)
    const page = async (pageToken: string) =>
      (await rpc(second.door, 'ListTasks', { pageSize: 1, pageToken }, bearer(KEY_A))).body.result
    const newest = await page('')
    expect(newest).toMatchObject({ tasks: [{ id, status: { state: 'TASK_STATE_FAILED' } }], totalSize: 2 })
    expect(await page(newest.nextPageToken)).toMatchObject({ tasks: [{ id: done.id }], nextPageToken: '' })
  } finally {
    await second.door.close()
    await second.store.close()
  }
})
