// Output that nobody reads to its end: `agent-gateway … | head`.
import { once } from 'node:events'
import { expect, it } from 'vitest'
import { startCli } from '../support/cli.ts'

it.each(['--help', '--version', 'permits prepare --help'])(
  'ends `%s` without a word when its reader has gone',
  async (command) => {
    const started = startCli(command.split(' '), {})
    started.child.stdout!.destroy()
    await once(started.child, 'exit')
    expect({ code: started.child.exitCode, stderr: started.stderr() }).toEqual({ code: 0, stderr: '' })
  },
)
