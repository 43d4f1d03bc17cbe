// The commands that bring the unit to its first start, as deploy/README.md has them, in a folder of the test.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { loadConfig } from '../../../src/app/config.ts'
import { openAuthority } from '../../../src/egress/adapters/authority.ts'
import { removeFolder } from '../../support/remove-folder.ts'

const deploy = new URL('../../../deploy/', import.meta.url).pathname
const readme = readFileSync(`${deploy}README.md`, 'utf8')
const blockOf = (kind: string) =>
  new RegExp(`^## systemd$[^]*?^\`\`\`${kind}\\n([^]*?)^\`\`\`$`, 'm').exec(readme)?.[1] ?? ''
const commands = blockOf('sh')

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'systemd-'))
  mkdirSync(join(folder, 'etc/systemd/system'), { recursive: true })
  mkdirSync(join(folder, 'package/dist'), { recursive: true })
  writeFileSync(join(folder, 'package/dist/launcher.js'), '')
  execFileSync('tar', ['-czf', join(folder, 'package.tgz'), '-C', folder, 'package'])
})
afterEach(() => removeFolder(folder))

function follow(): void {
  const inFolder = commands.replace(/ (?=\/(?:opt|etc)\/)/g, ` ${folder}`).replace('systemctl', 'true')
  // Nothing of the machine is touched, whatever becomes of the page.
  if (/(?:^|[^\w-])\/(?:opt|etc)\//m.test(inFolder)) throw new Error(`outside of the folder: ${inFolder}`)
  execFileSync('bash', ['-e', '-c', inFolder], {
    cwd: `${deploy}systemd`,
    env: { PATH: `${dirname(process.execPath)}:/usr/bin:/bin`, TARBALL: join(folder, 'package.tgz') },
    stdio: 'pipe',
  })
}

it('puts everything where the unit looks for it', () => {
  follow()
  const unit = readFileSync(join(folder, 'etc/systemd/system/agent-gateway.service'), 'utf8')
  const wanted = [
    ...unit.matchAll(/^(?:EnvironmentFile=|LoadCredential=[^:]+:)(\S+)$|^ExecStart=.* (\/opt\/\S+)/gm),
  ].map(([, file, program]) => file ?? program ?? '')
  expect(wanted).toHaveLength(3)
  for (const file of wanted) expect(existsSync(join(folder, file)), file).toBe(true)
})

it('makes a wrapping key that the gateway takes, for root alone, and never another in its place', async () => {
  follow()
  const file = join(folder, 'etc/agent-gateway/keys/authority.jwk')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const { kid } = (await openAuthority({ file, now: Date.now })).current()
  expect(follow).toThrow(/cannot overwrite existing file/)
  expect((await openAuthority({ file, now: Date.now })).current().kid).toBe(kid)
})

/** What `systemd` makes of a value, for the parts that stand here. */
const expand = (value: string, credentials: string) =>
  value.replace(/%(.)/g, (_, letter: string) => ({ d: credentials, '%': '%' })[letter] ?? `?${letter}`)

it.each(['agent-gateway.service', 'agent-gateway@8402.service'])(
  '%s starts with a key in a token: a drop-in takes the key file out and names the PIN where it lies',
  (unit) => {
    const lines = blockOf('ini').trim().split('\n')
    const given = lines.filter((line) => line.startsWith('LoadCredential='))
    expect(given).toEqual(['LoadCredential=', 'LoadCredential=pin:/etc/agent-gateway/keys/pin'])
    expect(lines).toContain('UnsetEnvironment=GATEWAY_AUTHORITY_KEY_FILE')
    const [, value = ''] =
      lines.map((line) => /^Environment="GATEWAY_AUTHORITY=(.*)"$/.exec(line)).find(Boolean) ?? []
    const credentials = `/run/credentials/${unit}`
    const { authorities } = loadConfig({ GATEWAY_AUTHORITY: expand(value, credentials) })
    expect(authorities).toMatchObject([{ kind: 'pkcs11', pinFile: `${credentials}/pin` }])
  },
)

it.each([
  ['agent-gateway.service', ''],
  ['agent-gateway@.service', '-%i'],
])('%s makes the folder of the socket that the guide names, for its own user', (name, instance) => {
  const guide = readFileSync(`${deploy}../docs/guides/unmodified-programs.md`, 'utf8')
  const [, socket = ''] = /GATEWAY_PROXY_SOCKET=(\S+)$/m.exec(guide) ?? []
  const lines = readFileSync(`${deploy}systemd/${name}`, 'utf8').split('\n')
  expect(lines).toEqual(
    expect.arrayContaining([
      `RuntimeDirectory=agent-gateway${instance}`,
      'RuntimeDirectoryMode=0700',
      `#Environment=GATEWAY_PROXY_SOCKET=%t/agent-gateway${instance}/door.sock`,
    ]),
  )
  expect(socket).toBe('/run/agent-gateway/door.sock')
})
