// The first command that README.md has a reader run, where the gateway is not started yet.
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { bareEnv } from '../support/cli.ts'
import { finish } from '../support/process.ts'
import { removeFolder } from '../support/remove-folder.ts'

it('says in a sentence that no gateway answers', async () => {
  const GATEWAY_DATA_DIR = mkdtempSync(join(tmpdir(), 'examples-'))
  writeFileSync(join(GATEWAY_DATA_DIR, 'operator.key'), 'agw_sk_of_nobody')
  const example = new URL('../../examples/store-credential.ts', import.meta.url).pathname
  const { code, stdout, stderr } = await finish(process.execPath, [example], {
    env: bareEnv({ GATEWAY_DATA_DIR, GATEWAY_BASE_URL: 'http://127.0.0.1:9' }),
  })
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toContain('No gateway answers at http://127.0.0.1:9: start it, or set GATEWAY_BASE_URL.\n')
  expect(stderr).not.toMatch(/^\s+at /m)
  await removeFolder(GATEWAY_DATA_DIR)
})
