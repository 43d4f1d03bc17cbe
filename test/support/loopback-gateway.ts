// `serve` of the product, to which 127.0.0.1 counts as public: for processes whose upstreams stand for servers on the internet, on
// machines on which the analysis of a page may take long.
import { serve } from '../../src/cli/serve.ts'
import { LOOPBACK_IS_PUBLIC } from './loopback.ts'

await serve(process.env, {
  publicAddresses: LOOPBACK_IS_PUBLIC,
  times: { reading: { analyses: { budgetMs: 60_000 } } },
})
