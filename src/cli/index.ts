// The command line: runs the program and turns whatever it ends with into words and an exit code.
import { run } from './program.ts'

await run(process.argv.slice(2))
