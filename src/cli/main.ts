// `node src/cli/main.ts` (or dist/main.js): the gateway without the command line around it.
import { serve } from './serve.ts'

await serve(process.env)
