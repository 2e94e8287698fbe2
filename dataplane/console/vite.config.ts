/** How the console is built: `npm run build`, and `npm start` where the sources are newer than what was built. */
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { stylesByTextSize } from './styles-by-text-size.ts'

export default defineConfig({
  root: import.meta.dirname,
  // The dashboard puts the path of `PUBLIC_URL` in the place of the dot.
  base: './',
  plugins: [react()],
  css: { postcss: { plugins: [stylesByTextSize] } },
  build: {
    outDir: '../../dist/console',
    emptyOutDir: true,
    // Nothing may stand in the page itself: its policy forbids scripts and fonts that are not files.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1_000,
    reportCompressedSize: false,
  },
  // `hack/node node_modules/vite/bin/vite.js dataplane/console` beside a standalone: changes show at once.
  server: { proxy: { '/api': 'http://localhost:3000', '/health': 'http://localhost:3000' } },
})
