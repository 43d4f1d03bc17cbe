// The completion scripts, asked as a shell asks them. Bash is on every machine that runs these tests; zsh and fish are asked where they are.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { bashScript } from '../../../src/cli/completion/bash.ts'
import { fishScript } from '../../../src/cli/completion/fish.ts'
import { placesOf } from '../../../src/cli/completion/tree.ts'
import { zshScript } from '../../../src/cli/completion/zsh.ts'
import { createProgram } from '../../../src/cli/program.ts'
import { removeFolder } from '../../support/remove-folder.ts'

const places = placesOf(createProgram())
const folder = mkdtempSync(join(tmpdir(), 'gateway-completion-'))
const SCRIPTS = { bash: bashScript(places), zsh: zshScript(places), fish: fishScript(places) }
for (const [shell, script] of Object.entries(SCRIPTS)) writeFileSync(join(folder, shell), script)
writeFileSync(join(folder, 'payment.json'), '{}')
afterAll(() => removeFolder(folder))

const hasShell = (shell: string) => spawnSync(shell, ['-c', 'true']).status === 0

/** What bash would offer for the last word. */
function complete(...words: string[]): string[] {
  const quoted = ['agent-gateway', ...words].map((word) => `'${word}'`).join(' ')
  const asked = `source '${join(folder, 'bash')}'; cd '${folder}'; COMP_WORDS=(${quoted}); COMP_CWORD=${words.length}
    _agent_gateway; printf '%s\\n' "\${COMPREPLY[@]}"`
  const text = execFileSync('bash', ['--norc', '-c', asked], { encoding: 'utf8' })
  return text.split('\n').filter((line) => line !== '')
}

describe('bash completes', () => {
  it('commands, and those below them', () => {
    expect(complete('pay')).toEqual(['payments', 'payouts'])
    expect(complete('payments', 'r').toSorted()).toEqual(['reconcile', 'refund', 'refunds', 'revenue'])
    expect(complete('email', 'keys', '').toSorted()).toEqual(['list', 'revoke'])
  })

  it('options, and the words that one takes', () => {
    expect(complete('payments', 'list', '--pay')).toEqual(['--payer', '--payee'])
    expect(complete('payments', 'list', '--state', 'se')).toEqual(['settled'])
    expect(complete('payments', 'list', '--state', 'settled', '--lim')).toEqual(['--limit'])
    expect(complete('completion', '')).toEqual(['bash', 'zsh', 'fish'])
    expect(complete('payments', 'list', '--payer', '')).toEqual([])
  })

  it('files, where a file is meant and nowhere else', () => {
    expect(complete('test', 'pay')).toEqual(['payment.json'])
    expect(complete('audit', 'verify', '')).toContain('payment.json')
    expect(complete('audit', 'export', '--out', 'pay')).toEqual(['payment.json'])
    expect(complete('payments', 'show', 'pay')).toEqual([])
  })

  it('takes a value for no command, and another program after --', () => {
    expect(complete('--url', 'payments', 'aud')).toEqual(['audit'])
    expect(complete('run', '--', 'pay')).toContain('payment.json')
  })
})

it('knows every command and option that the program has, and no other', () => {
  const known = new Set(places.map(({ path }) => path))
  for (const path of ['', 'payments export', 'audit verify', 'completion', 'authority rotate'])
    expect(known).toContain(path)
  for (const { commands, path } of places)
    for (const { name } of commands) expect(known).toContain(`${path} ${name}`.trim())
  const flags = places.flatMap(({ options }) => options.flatMap((option) => option.flags))
  for (const flag of flags.filter((flag) => flag.startsWith('--')))
    for (const script of Object.values(SCRIPTS)) expect(script).toContain(flag.slice(2))
})

/** What zsh's own functions are handed, and what fish offers: `name<tab>description` a line. */
const ASKED: Readonly<Record<string, (line: string) => readonly [string, string]>> = {
  zsh: (line) => [
    'zsh',
    `compdef() { : }; _files() { print -- '(files)' }; _message() { print -- '(value)' }
     compadd() { shift; print -l -- "$@" }; _describe() { print -l -- "\${(@P)2}" }
     source '${join(folder, 'zsh')}'; words=(\${(z):-'${line}'}); [[ '${line}' == *' ' ]] && words+=('')
     CURRENT=\${#words}; _agent_gateway`,
  ],
  fish: (line) => ['fish', `source '${join(folder, 'fish')}'; complete -C '${line}'`],
}
it.each([
  ['agent-gateway payments ', 'reconcile'],
  ['agent-gateway payments list --state ', 'settled'],
  ['agent-gateway completion ', 'fish'],
  ['agent-gateway payments list --', '--payee'],
])('offers in zsh and in fish, where they are here, for %j what bash does: %s', (line, word) => {
  for (const [shell, ask] of Object.entries(ASKED).filter(([shell]) => hasShell(shell))) {
    const [program, asked] = ask(line)
    const offered = execFileSync(program, ['-c', asked], { encoding: 'utf8', cwd: folder })
    expect(
      offered.split('\n').map((text) => text.split(/[\t:]/)[0]),
      shell,
    ).toContain(word)
  }
  const words = line.split(' ').slice(1)
  expect(complete(...words)).toContain(word)
})

it('is taken by the shells that are here, and all three scripts hold nothing that a shell would run', () => {
  expect(spawnSync('bash', ['-n', join(folder, 'bash')], { encoding: 'utf8' })).toMatchObject({
    status: 0,
    stderr: '',
  })
  for (const shell of ['zsh', 'fish'].filter(hasShell))
    expect(spawnSync(shell, ['-n', join(folder, shell)], { encoding: 'utf8' })).toMatchObject({
      status: 0,
      stderr: '',
    })
  // Descriptions stand in single quotes, without one in them.
  for (const script of [SCRIPTS.zsh, SCRIPTS.fish])
    for (const line of script.split('\n')) expect((line.match(/'/g) ?? []).length % 2, line).toBe(0)
})
