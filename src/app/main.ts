// `node src/app/main.ts` (or dist/main.js): the gateway without the command line around it.
import { serve } from '../cli/serve.ts'

await serve(process.env)
