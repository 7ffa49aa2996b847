import preact from "@preact/preset-vite";
import { defineConfig } from "vite";

// The built files are part of the Python package, so that users need no Node.
export default defineConfig({
  plugins: [preact()],
  build: {
    outDir: "../treetop/serve/page", emptyOutDir: true, assetsInlineLimit: 0, modulePreload: { polyfill: false },
    // Fixed names: a changed page is a changed file, not another one.
    rollupOptions: { output: { entryFileNames: "assets/[name].js", assetFileNames: "assets/[name][extname]" } },
  },
  server: { proxy: { "/api": { target: "http://127.0.0.1:8000", ws: true } } },
});
