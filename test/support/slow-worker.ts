// The real analyses, except that a page that says so is never finished.
import { serve } from '../../src/outcomes/adapters/serve.ts'
import { analyses } from '../../src/outcomes/analyses.ts'

serve({
  ...analyses,
  page(input) {
    if (Buffer.from(input.body).includes('<!-- never finished -->')) for (;;);
    return analyses.page(input)
  },
} satisfies typeof analyses)
