// Node's version, the limit of core dumps, and the clock.
import { X509Certificate } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { CORE_DUMPS_OFF, coreLimit, describeCoreDumps } from '../core-dumps.ts'
import { describeMissingSigners } from '../native-signers.ts'
import { type Check, errorCode, fail, ok, warn } from './finding.ts'

const OLDEST = [22, 19] as const
/** This code was not written before: a clock in front of it is wrong, and every certificate would look not yet valid. */
const NOT_BEFORE = Date.parse('2026-01-01T00:00:00Z')
const TOLERATED_MS = 5000

/** Looks whether Node is new enough: 22.19 or later. */
export const checkRuntime: Check = async () => {
  const version = process.versions.node
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const isNewEnough = major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])
  return [
    isNewEnough
      ? ok('node', version)
      : fail(
          'node',
          `${version} is too old`,
          `Install Node ${OLDEST.join('.')} or newer, or start with npm start.`,
        ),
  ]
}

/** A gateway without native signers is well: what is in an image cannot be added to. */
export const checkSigners: Check = async () => [
  ok('signers', describeMissingSigners() ?? 'sodium-native and secp256k1'),
]

/** Looks at the gateway that runs, since a shell may have other limits than a unit. */
export const checkCoreDumps: Check = async ({ running }) => {
  const limit = coreLimit(running?.pid)
  if (limit === undefined) return []
  const said = describeCoreDumps(limit)
  return [said === undefined ? ok('core dumps', 'off') : warn('core dumps', said, CORE_DUMPS_OFF)]
}

/** Node itself reads the file, and says nothing to callers when it cannot: every private upstream then fails in TLS. */
export const checkExtraCertificates: Check = async () => {
  const check = 'extra certificates'
  const file = process.env['NODE_EXTRA_CA_CERTS']
  if (file === undefined || file === '') return []
  try {
    const { validTo } = new X509Certificate(await readFile(file))
    return [ok(check, `${file}, the first valid until ${validTo}`)]
  } catch (thrown) {
    return [
      fail(
        check,
        `NODE_EXTRA_CA_CERTS: ${file} ${errorCode(thrown) === 'ENOENT' ? 'does not exist' : 'holds no certificate that can be read'}`,
        'Name a file with PEM certificates, or unset the variable: Node ignores a file it cannot read.',
      ),
    ]
  }
}

/** Checks this machine's clock, by which capabilities and permits expire; the database's own is checked in database.ts. */
export const checkClock: Check = async ({ config: { dataDir } }) => {
  const now = Date.now()
  const todo = 'Set the clock (NTP): capabilities, quotes and certificates are judged by it.'
  if (now < NOT_BEFORE) return [fail('clock', `it is ${new Date(now).toISOString()}, which is past`, todo)]
  const newest = await newestChange(dataDir)
  return newest > now + TOLERATED_MS
    ? [
        fail(
          'clock',
          `it went back: files of the data directory are ${Math.round((newest - now) / 1000)} s ahead`,
          todo,
        ),
      ]
    : [ok('clock', new Date(now).toISOString())]
}

async function newestChange(directory: string): Promise<number> {
  try {
    const names = await readdir(directory)
    const times = await Promise.all(names.map(async (name) => (await stat(join(directory, name))).mtimeMs))
    return Math.max(0, ...times)
  } catch {
    return 0
  }
}
