// The process that runs analyses. It has no environment, and whoever asked cuts it off when it takes too long.
import { analyses } from '../analyses.ts'
import { serve } from './serve.ts'

serve(analyses)
