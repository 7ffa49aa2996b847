import preact from "@preact/preset-vite";
import { defineConfig } from "vite";

// The built files are part of the Python package, so that users need no Node.
export default defineConfig({
  plugins: [preact()],
  build: { outDir: "../treetop/serve/page", emptyOutDir: true, assetsInlineLimit: 0, modulePreload: { polyfill: false } },
  server: { proxy: { "/api": { target: "http://127.0.0.1:8000", ws: true } } },
});
