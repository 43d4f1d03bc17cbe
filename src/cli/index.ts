// The command line: runs the program and turns whatever it ends with into words and an exit code.
import { Exit } from './exit.ts'
import { run } from './program.ts'

// The launcher runs us as its child: when it is killed, nobody is left to pass signals on.
if (process.connected) {
  process.once('disconnect', () => process.exit(Exit.failed))
  process.channel?.unref()
}

await run(process.argv.slice(2))
