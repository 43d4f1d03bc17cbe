// Files that were lost or damaged: the start says which one and what to do, as `doctor` does, and nobody reads a stack.
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { runCli, startGatewayProcess } from '../support/cli.ts'
import { createClient } from '../support/gateway.ts'
import { removeFolder } from '../support/remove-folder.ts'

let folder: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'damaged-'))
  const gateway = startGatewayProcess({ PORT: '0', GATEWAY_DATA_DIR: join(folder, 'good') })
  const url = await gateway.listening
  const operatorKey = readFileSync(join(folder, 'good', 'operator.key'), 'utf8').trim()
  await createClient(url, { operatorKey }).grant()
  gateway.kill('SIGTERM')
  await gateway.ended
})
afterAll(() => removeFolder(folder))

/** What a start and the doctor say of a copy of a good directory, after this was done to it. */
async function after(damage: (data: string) => void) {
  const data = mkdtempSync(join(folder, 'data-'))
  cpSync(join(folder, 'good'), data, { recursive: true })
  damage(data)
  const env = { PORT: '0', GATEWAY_DATA_DIR: data }
  const gateway = startGatewayProcess(env)
  // One that starts all the same is not waited for.
  void gateway.listening.then(() => gateway.kill('SIGKILL')).catch(() => {})
  const { code } = await gateway.ended
  const { stdout } = await runCli(['doctor', '--json'], env)
  const { findings } = JSON.parse(stdout) as { findings: { level: string; says: string; todo?: string }[] }
  return {
    data,
    code,
    said: gateway.stderr(),
    failed: findings.filter(({ level }) => level === 'fail').map(({ says, todo }) => `${says} ${todo}`),
  }
}
const database = (data: string) => join(data, 'gateway.db')

describe('a start on', () => {
  it.each<[string, RegExp, RegExp, (data: string) => void]>([
    [
      'a database that was cut',
      /gateway\.db is damaged.*backup/,
      /gateway\.db/,
      (data) => truncateSync(database(data), 5000),
    ],
    [
      'a database that lacks its last half',
      /gateway\.db is damaged.*backup/,
      /gateway\.db/,
      (data) => truncateSync(database(data), Math.floor(statSync(database(data)).size / 8192) * 4096),
    ],
    [
      'a database that was emptied',
      /gateway\.db is damaged.*backup/,
      /gateway\.db/,
      (data) => truncateSync(database(data), 0),
    ],
    [
      'a database that was overwritten',
      /gateway\.db is damaged.*backup/,
      /gateway\.db/,
      (data) => writeFileSync(database(data), Buffer.alloc(100_000, 'rubbish')),
    ],
    [
      'a database with damaged pages',
      /gateway\.db is damaged.*backup/,
      /gateway\.db/,
      (data) => {
        const bytes = readFileSync(database(data))
        for (let i = 4096; i < bytes.length; i += 7) bytes[i] = 255
        writeFileSync(database(data), bytes)
      },
    ],
    [
      'a database of a newer release',
      /gateway\.db: The database has table version 999, this release knows \d+: run the newer release again/,
      /table version 999/,
      (data) => {
        const db = new DatabaseSync(database(data))
        db.exec('INSERT INTO migrations (version, applied_at) VALUES (999, 1)')
        db.close()
      },
    ],
    [
      'a directory where the database was',
      /gateway\.db cannot be opened for writing/,
      /gateway\.db/,
      (data) => {
        rmSync(database(data))
        mkdirSync(database(data))
      },
    ],
    [
      'a lock that is no lock',
      /lock\.db cannot be used as the lock.*remove it/,
      /lock\.db/,
      (data) => writeFileSync(join(data, 'lock.db'), Buffer.alloc(9000, 'rubbish')),
    ],
    [
      'a wrapping key that is gone while credentials are sealed to it',
      /authority\.jwk/,
      /authority\.jwk does not hold/,
      (data) => rmSync(join(data, 'authority.jwk')),
    ],
    [
      'a wrapping key that is cut',
      /authority\.jwk is not a private P-256 JWK.*it is not JSON/,
      /authority\.jwk/,
      (data) => truncateSync(join(data, 'authority.jwk'), 20),
    ],
    [
      'a signing key that is cut',
      /signing\.jwk is not an Ed25519 private key.*backup/,
      /signing\.jwk/,
      (data) => truncateSync(join(data, 'signing.jwk'), 20),
    ],
    [
      'a signing key with a member twice',
      /signing\.jwk.*It has the member "d" twice in one object, in lines 1 and 2/,
      /signing\.jwk has the member "d" twice/,
      (data) => {
        const file = join(data, 'signing.jwk')
        writeFileSync(file, readFileSync(file, 'utf8').trim().replace(/}$/, ',\n"d":"x"}'))
      },
    ],
    [
      'a derivation key that others may read',
      /derivation\.jwk.*chmod 600/,
      /derivation\.jwk may be read/,
      (data) => chmodSync(join(data, 'derivation.jwk'), 0o644),
    ],
    [
      'a derivation key that was deleted',
      /derivation\.jwk is not the key that this data was begun with.*Restore it from a backup/s,
      /^$/,
      (data) => rmSync(join(data, 'derivation.jwk')),
    ],
    [
      'a directory where a key was',
      /derivation\.jwk is a directory/,
      /derivation\.jwk cannot be read/,
      (data) => {
        rmSync(join(data, 'derivation.jwk'))
        mkdirSync(join(data, 'derivation.jwk'), { mode: 0o700 })
      },
    ],
    [
      'a note of the mode that is no JSON',
      /installation\.json is not valid\. It is not JSON.*restore it from a backup/s,
      /^$/,
      (data) => writeFileSync(join(data, 'installation.json'), '{'),
    ],
  ])('%s names the file and what to do', async (_what, words, found, damage) => {
    const { code, said, failed } = await after(damage)
    expect(said).toMatch(words)
    expect(said).not.toMatch(/^\s+at |"at":\[|node:internal/m)
    expect(code).toBe(78)
    if (found.source !== '^$') expect(failed.join('\n')).toMatch(found)
  })
})

it('a data directory that is a file is named, and so is one that another process owns', async () => {
  const file = join(folder, 'file')
  writeFileSync(file, 'x')
  const onFile = startGatewayProcess({ PORT: '0', GATEWAY_DATA_DIR: file })
  expect((await onFile.ended).code).toBe(78)
  expect(onFile.stderr()).toContain(`${file} is not a directory. Set GATEWAY_DATA_DIR`)

  const env = { PORT: '0', GATEWAY_DATA_DIR: join(folder, 'good') }
  const owner = startGatewayProcess(env)
  await owner.listening
  const intruder = startGatewayProcess(env)
  expect((await intruder.ended).code).toBe(78)
  expect(intruder.stderr()).toMatch(/in use by another gateway process\. Stop that one/)
  owner.kill('SIGTERM')
  await owner.ended
})

it('policies with a member twice are not used, which the log and the doctor say with its lines', async () => {
  const data = mkdtempSync(join(folder, 'policy-'))
  cpSync(join(folder, 'good'), data, { recursive: true })
  writeFileSync(join(data, 'market.json'), '{\n  "moderation": {},\n  "moderation": {}\n}\n')
  const env = { PORT: '0', GATEWAY_DATA_DIR: data }
  const gateway = startGatewayProcess(env)
  await gateway.listening
  const words =
    /market\.json is not valid; the default is used\. It has the member .*moderation.* twice in one object, in lines 2 and 3/
  await vi.waitFor(() => expect(gateway.stderr()).toMatch(words), { timeout: 60_000 })
  expect((await runCli(['doctor'], env)).stdout).toMatch(words)
  gateway.kill('SIGTERM')
  await gateway.ended
})
