// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Has the library linked, where pkg-config says that it is: the static one for programs
//! that are static.
use std::env::var;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    let said = Command::new("pkg-config").args(["--libs-only-L", "libtwheel"]).output();
    let directories = match said {
        Ok(said) if said.status.success() => said.stdout,
        _ => panic!(
            "pkg-config does not know libtwheel. Try: apt install pkg-config libtwheel-dev, \
             or make tools_install in the sources of twheel"
        ),
    };
    for directory in String::from_utf8_lossy(&directories).split_whitespace() {
        println!("cargo:rustc-link-search=native={}", directory.trim_start_matches("-L"));
    }
    let features = var("CARGO_CFG_TARGET_FEATURE").unwrap_or_default();
    let is_static = features.split(',').any(|feature| feature == "crt-static");
    println!("cargo:rustc-link-lib={}=twheel", if is_static { "static" } else { "dylib" });
}
