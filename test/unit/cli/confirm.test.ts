import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { confirm } from '../../../src/cli/confirm.ts'

const terminal = (isTTY: boolean) => Object.assign(new PassThrough(), { isTTY })

function ask(answer: string, tty: { stdin?: boolean; stderr?: boolean } = {}) {
  const stdin = terminal(tty.stdin ?? true)
  const stderr = terminal(tty.stderr ?? true)
  stdin.end(answer)
  return {
    done: confirm('Send it?', 'Use --yes.', { stdin, stderr }),
    shown: () => String(stderr.read() ?? ''),
  }
}

describe('a question to the person at the terminal', () => {
  it.each(['yes\n', 'y\n', ' YES \r\n'])('goes on after %j', async (answer) => {
    const { done, shown } = ask(answer)
    await expect(done).resolves.toBeUndefined()
    expect(shown()).toContain('Send it? [yes/no]')
  })

  it.each(['no\n', '\n', 'yesterday\n', 'n\nyes\n', '', '\u0003', '\u0004'])(
    'decides nothing after %j',
    async (answer) => {
      await expect(ask(answer).done).rejects.toThrow('Nothing was decided')
    },
  )

  it.each<[string, { stdin?: boolean; stderr?: boolean }]>([
    ['stdin', { stdin: false }],
    ['stderr', { stderr: false }],
  ])('is not asked where %s is no terminal, and says what to do', async (_, tty) => {
    const { done, shown } = ask('yes\n', tty)
    await expect(done).rejects.toThrow('Use --yes.')
    expect(shown()).toBe('')
  })
})
