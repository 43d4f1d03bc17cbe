import { mkdir, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { getCACertificates, rootCertificates } from 'node:tls'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { makeRunFolder, writeTrustFiles } from '../../../../src/cli/run/trust.ts'
import { trustVariables } from '../../../../src/cli/run/variables.ts'
import { createRunAuthority } from '../../../../src/interception/authority.ts'
import { removeFolder } from '../../../support/remove-folder.ts'

const OURS = pem('ours')
const NAMES = Object.keys(trustVariables({ bundle: '', own: '' }))

/** What no program could read, and is taken for a certificate here. */
function pem(text: string, kind = ''): string {
  const base64 = Buffer.from(text).toString('base64')
  return `-----BEGIN ${kind}CERTIFICATE-----\n${base64}\n-----END ${kind}CERTIFICATE-----`
}

describe('the certificates that a program of a run trusts', () => {
  let folder: string
  let said: string[]
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'agent-gateway-'))
    await mkdir(join(folder, 'trust'))
    said = []
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => said.push(String(text)) > 0)
  })
  afterEach(async () => {
    vi.restoreAllMocks()
    await removeFolder(folder)
  })

  const file = async (name: string, text: string) => {
    await writeFile(join(folder, name), text)
    return join(folder, name)
  }
  async function write(env: Record<string, string>) {
    const { own, bundle } = await writeTrustFiles(join(folder, 'trust'), OURS, env)
    return { own: await readFile(own, 'utf8'), bundle: await readFile(bundle, 'utf8') }
  }

  it.each(NAMES)('are those of the file that %s named before, too', async (name) => {
    const theirs = `${pem('one')}\n# the other\n${pem('two', 'TRUSTED ')}\n`
    const { own, bundle } = await write({ [name]: await file('theirs.pem', theirs) })
    const adds = ['NODE_EXTRA_CA_CERTS', 'DENO_CERT'].includes(name)
    for (const block of [pem('one'), pem('two', 'TRUSTED ')]) {
      expect(bundle).toContain(block)
      expect(own.includes(block)).toBe(adds)
    }
    expect([own, bundle].every((text) => text.includes(OURS))).toBe(true)
    expect(bundle).toContain(rootCertificates[0]!.trim())
    expect(said).toEqual([])
  })

  it('are each there once, with no key that stands beside them', async () => {
    const key = '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----'
    const theirs = await file('theirs.pem', `${key}\n${pem('one')}\n${getCACertificates('bundled')[0]}`)
    const { bundle, own } = await write({ SSL_CERT_FILE: theirs, DENO_CERT: theirs, AWS_CA_BUNDLE: theirs })
    expect(bundle.split(pem('one'))).toHaveLength(2)
    expect(bundle.split(getCACertificates('bundled')[0]!.trim())).toHaveLength(2)
    expect(bundle + own).not.toContain('PRIVATE KEY')
  })

  it('do not pile up where a shell that has the variables asks for them again', async () => {
    await write({})
    const again = { SSL_CERT_FILE: join(folder, 'trust', 'bundle.pem') }
    const last = join(folder, 'trust', 'ca.pem')
    await writeFile(last, pem('an authority that was replaced'))
    const { own, bundle } = await write({ ...again, NODE_EXTRA_CA_CERTS: last })
    expect(own).toBe(`${OURS}\n`)
    expect(bundle).not.toContain(pem('an authority that was replaced'))
  })

  it('lack those of a file that cannot be read, which is said once', async () => {
    const missing = join(folder, 'no\u001bsuch.pem')
    const { own } = await write({
      REQUESTS_CA_BUNDLE: folder,
      SSL_CERT_FILE: missing,
      CURL_CA_BUNDLE: missing,
      GIT_SSL_CAINFO: await file('empty.pem', 'nothing'),
      PIP_CERT: '',
    })
    expect(own).toBe(`${OURS}\n`)
    expect(said.map((line) => line.split(' names ')[0]).toSorted()).toEqual([
      'agent-gateway: GIT_SSL_CAINFO',
      'agent-gateway: REQUESTS_CA_BUNDLE',
      'agent-gateway: SSL_CERT_FILE',
    ])
    expect(said.join('')).not.toContain('\u001b')
    expect(said[0]).toMatch(/of which no certificate can be read.*\n$/)
  })

  it('are in the folder of a run, for Java too', async () => {
    vi.stubEnv('TMPDIR', folder)
    const authority = createRunAuthority(Date.now)
    const theirs = createRunAuthority(Date.now).trusted()
    const trusted = { NODE_EXTRA_CA_CERTS: await file('theirs.pem', theirs) }
    const run = await makeRunFolder(authority.trusted(), trusted)
    vi.unstubAllEnvs()
    expect((await readdir(run.path)).toSorted()).toEqual([
      'bundle.pem',
      'ca.pem',
      'node-agents.cjs',
      'trust.jks',
    ])
    expect(await readFile(run.own, 'utf8')).toBe(`${authority.trusted().trim()}\n${theirs.trim()}\n`)
    const der = Buffer.from(theirs.replaceAll(/-----[^-]+-----|\s/g, ''), 'base64')
    expect((await readFile(run.javaStore)).includes(der)).toBe(true)
    await run.remove()
  })

  it('are at a path that is good in any working directory, where TMPDIR is relative', async () => {
    vi.stubEnv('TMPDIR', relative(process.cwd(), folder))
    const run = await makeRunFolder(createRunAuthority(Date.now).trusted(), {})
    vi.unstubAllEnvs()
    expect(dirname(run.path)).toBe(resolve(folder))
    expect([run.own, run.bundle, run.javaStore, run.nodeAgents].map((path) => dirname(path))).toEqual(
      Array(4).fill(run.path),
    )
    await run.remove()
  })
})
