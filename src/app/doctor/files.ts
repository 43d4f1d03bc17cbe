// Data directory and key files: there, ours, private, readable, whole. Contents are parsed and never shown.
import { constants } from 'node:fs'
import { access, lstat, readFile, stat, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createPrivateKey } from 'node:crypto'
import { calculateJwkThumbprint, type JWK_EC_Private } from 'jose'
import { operatorKeyFile } from '../bootstrap.ts'
import type { Config } from '../../core/config.ts'
import { isObject } from '../../lib/json.ts'
import { OperatorJsonFault, parseOperatorJson } from '../../lib/operator-json.ts'
import { isPrivateFile } from '../../lib/private-file.ts'
import { shellQuote } from '../../lib/shell-quote.ts'
import { parseToken } from '../../lib/tokens.ts'
import { type Check, errorCode, fail, type Finding, ok, warn } from './finding.ts'

const LOW_SPACE_BYTES = 256 * 1024 * 1024
const NEW_DIRECTORY = 'It is made at the first start; nothing to do.'

/** Looks whether the data directory is there, is a directory, and can be written by this user. */
export const checkDataDirectory: Check = async ({ config: { dataDir } }) => {
  const check = 'data directory'
  const info = await statOrUndefined(dataDir)
  if (info === undefined) {
    const parent = await closestParent(dataDir)
    if (await leadsNowhere(parent))
      return [
        fail(
          check,
          `${parent} is a link to what does not exist`,
          'Mount the disk that it leads to, or set GATEWAY_DATA_DIR to another place.',
        ),
      ]
    return (await mayUse(parent))
      ? [warn(check, `${dataDir} does not exist yet`, NEW_DIRECTORY)]
      : [fail(check, `${dataDir} does not exist and ${parent} may not be written`, otherDirectory(dataDir))]
  }
  if (!info.isDirectory())
    return [fail(check, `${dataDir} is not a directory`, 'Set GATEWAY_DATA_DIR to a directory.')]
  if (!(await mayUse(dataDir)))
    return [fail(check, `${dataDir} may not be read and written by this user`, otherDirectory(dataDir))]
  const findings: Finding[] =
    (info.mode & 0o077) === 0
      ? [ok(check, dataDir)]
      : [warn(check, `${dataDir} is open to other users`, `Close it: chmod 700 ${shellQuote(dataDir)}`)]
  const { bavail, bsize } = await statfs(dataDir)
  const freeMiB = Math.floor((bavail * bsize) / 1024 / 1024)
  findings.push(
    bavail * bsize < LOW_SPACE_BYTES
      ? warn('disk space', `${freeMiB} MiB free`, 'Make room: a full disk stops every call that is charged.')
      : ok('disk space', `${freeMiB} MiB free`),
  )
  return findings
}

const otherDirectory = (dataDir: string) =>
  `Give it to the user that runs the gateway (chown), or set GATEWAY_DATA_DIR to another place than ${dataDir}.`

/** Looks whether operator, authority and signing keys are whole and readable by their owner alone. */
export const checkKeyFiles: Check = async ({ config }) => {
  const operator = operatorKeyFile(config.dataDir)
  const findings: Finding[] = []
  if (config.operatorKey === undefined)
    findings.push(
      await checkKeyFile({
        check: 'operator key',
        file: operator,
        isWhole: (text) => parseToken(text.trim())?.kind === 'sk',
        whenBroken: 'Put the key back (agw_sk_…), or set GATEWAY_OPERATOR_KEY.',
        whenMissing:
          'It is made at the first start. If there was one before: set GATEWAY_OPERATOR_KEY, or restore the file.',
      }),
    )
  // Its form and checksum are the configuration's to judge.
  else findings.push(ok('operator key', 'from GATEWAY_OPERATOR_KEY'))
  findings.push(
    await checkAuthority(config),
    await checkKeyFile({
      check: 'signing key',
      file: join(config.dataDir, 'signing.jwk'),
      isWhole: (text) => jwksOf(text).some((jwk) => isPrivateKey(jwk, 'OKP')),
      whenBroken:
        'Restore it from a backup, or move it away: a new one is made and the old receipts stay verifiable.',
      whenMissing: 'It is made at the first start.',
    }),
    await checkKeyFile({
      check: 'derivation key',
      file: join(config.dataDir, 'derivation.jwk'),
      isWhole: (text) => jwksOf(text).some(isDerivationKey),
      whenBroken: 'Restore it from a backup: without it no buyer can fetch a stored result.',
      whenMissing: 'It is made at the next start. If there was one before, restore it from a backup first.',
    }),
  )
  return findings
}

async function checkAuthority({ authorities, authorityKeyFile }: Config): Promise<Finding> {
  const services = authorities.map(({ kind }) => kind).filter((kind) => kind !== 'file')
  if (services.length === authorities.length)
    return ok('authority key', `held by ${services.join(', ')}; the start asks whether it can be used`)
  return await checkKeyFile({
    check: 'authority key',
    file: authorityKeyFile,
    isWhole: (text) => jwksOf(text).some((jwk) => isPrivateKey(jwk, 'EC')),
    whenBroken: 'Restore it from a backup: without it no stored credential can be opened.',
    whenMissing:
      'It is made at the first start. If credentials are stored already, restore it from a backup first.',
  })
}

async function checkKeyFile(key: {
  check: string
  file: string
  isWhole: (text: string) => boolean
  whenBroken: string
  whenMissing: string
}): Promise<Finding> {
  const { check, file } = key
  const info = await statOrUndefined(file)
  if (info === undefined) return warn(check, `${file} does not exist`, key.whenMissing)
  if (!isPrivateFile(info))
    return fail(
      check,
      `${file} may be read by other users`,
      // Root's file in a group of its own is how a key is given to the gateway's user: 600 would take it away.
      `Close it: chmod ${info.uid === 0 && info.gid !== 0 ? 440 : 600} ${shellQuote(file)}. If others use this machine, replace the key.`,
    )
  try {
    const text = await readFile(file, 'utf8')
    return key.isWhole(text)
      ? ok(check, file)
      : fail(check, `${file} does not hold a whole key`, key.whenBroken)
  } catch (thrown) {
    if (thrown instanceof OperatorJsonFault) return fail(check, `${file} ${thrown.message}`, key.whenBroken)
    return fail(
      check,
      `${file} cannot be read (${errorCode(thrown) ?? 'error'})`,
      `Give it to the user that runs the gateway.`,
    )
  }
}

/** A file holds one JWK or a set of them. @throws {OperatorJsonFault} */
function jwksOf(text: string): readonly unknown[] {
  const document = parseOperatorJson(text)
  return isObject(document) && Array.isArray(document['keys']) ? document['keys'] : [document]
}

/** The keys of an authority file, by id; none when it is missing or broken, which `checkKeyFiles` says. */
export async function keyIdsIn(file: string): Promise<readonly string[]> {
  try {
    const jwks = jwksOf(await readFile(file, 'utf8')) as readonly AuthorityJwk[]
    return await Promise.all(jwks.map(async (jwk) => jwk.kid ?? (await calculateJwkThumbprint(jwk))))
  } catch {
    return []
  }
}

type AuthorityJwk = JWK_EC_Private & { kid?: string }

/** 256 bits, as `openDerivationKey` reads them. */
const isDerivationKey = (entry: unknown): boolean =>
  typeof entry === 'object' &&
  entry !== null &&
  'kty' in entry &&
  entry.kty === 'oct' &&
  'k' in entry &&
  typeof entry.k === 'string' &&
  Buffer.from(entry.k, 'base64url').length === 32

/** The key is imported: a file that parses but whose numbers are no key would fail at the first call instead. */
function isPrivateKey(entry: unknown, kty: string): boolean {
  if (typeof entry !== 'object' || entry === null) return false
  // An entry may carry the key inside, beside its validity.
  const jwk = 'jwk' in entry && typeof entry.jwk === 'object' && entry.jwk !== null ? entry.jwk : entry
  if (!('kty' in jwk) || jwk.kty !== kty) return false
  try {
    createPrivateKey({ key: jwk as import('node:crypto').JsonWebKey, format: 'jwk' })
    return true
  } catch {
    return false
  }
}

async function statOrUndefined(path: string) {
  try {
    return await stat(path)
  } catch {
    return undefined
  }
}

async function mayUse(directory: string): Promise<boolean> {
  try {
    await access(directory, constants.R_OK | constants.W_OK | constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** The path itself or the closest one above it that is there; a link is there, also where it leads nowhere. */
async function closestParent(path: string): Promise<string> {
  for (let parent = path; ; parent = dirname(parent))
    if ((await isThere(parent)) || parent === dirname(parent)) return parent
}

const isThere = (path: string) =>
  lstat(path).then(
    () => true,
    () => false,
  )

const leadsNowhere = async (path: string) => (await statOrUndefined(path)) === undefined
