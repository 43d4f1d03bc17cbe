// The command line: runs the program and turns whatever it ends with into words and an exit code.
import { Exit } from './exit.ts'
import { wantsJson } from './options.ts'
import { run } from './program.ts'
import { watchStdout } from './stdout.ts'

const args = process.argv.slice(2)

// The launcher runs us as its child: when it is killed, nobody is left to pass signals on.
if (process.connected) {
  // An assistant's server ends in its own way: it may have a sandbox to close.
  if (args[0] !== 'stdio') process.once('disconnect', () => process.exit(Exit.failed))
  process.channel?.unref()
}

// What serves has more to do than to print.
if (args[0] !== 'serve' && args[0] !== 'stdio') watchStdout({ json: wantsJson(args) })

await run(args)
