//! Objects that carry a Rust value.

use super::declare::Class;
use super::engine;
use ext_php_rs::ffi;
use ext_php_rs::types::{ZendHashTable, Zval};
use ext_php_rs::zend::ClassEntry;
use std::mem::offset_of;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// A value that lives in PHP objects.
pub trait Native: Sized + 'static {
    /// How the engine handles objects that carry it.
    fn handlers() -> &'static Handlers;

    /// Adds what `var_dump` shows.
    fn dump(&self, properties: &mut ZendHashTable);

    /// The values of the script's that it holds, for the engine to find circles of references.
    fn gc_roots(&self) -> &[Zval] {
        &[]
    }
}

/// How the engine handles the objects that carry a value.
pub struct Handlers(AtomicPtr<ffi::zend_object_handlers>);

impl Handlers {
    /// Handlers of no class yet.
    pub const fn new() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }
}

/// Has the engine make the objects of a class, and of those that extend it, with room for
/// a `T`. They cannot be cloned, compared or serialized. At startup only.
pub fn install_handlers<T: Native>(class: &Class) {
    // SAFETY: the engine's table of standard handlers is plain data, set before us.
    let mut handlers = unsafe { ffi::std_object_handlers };
    engine::set_offset(&mut handlers, offset_of!(Object<T>, std));
    handlers.free_obj = Some(free::<T>);
    handlers.clone_obj = None;
    handlers.compare = Some(ffi::zend_objects_not_comparable);
    handlers.get_debug_info = Some(debug_info::<T>);
    handlers.get_gc = Some(references::<T>);
    // Kept until the process ends: objects point to it.
    T::handlers().0.store(Box::leak(Box::new(handlers)), Ordering::Relaxed);
    let entry = class.as_ptr();
    // SAFETY: a registered class, which nobody else uses during startup.
    unsafe {
        (*entry).__bindgen_anon_2.create_object = Some(create::<T>);
        (*entry).ce_flags |= ffi::ZEND_ACC_NOT_SERIALIZABLE;
    }
}

/// The memory of an object: the value, then the engine's part, which grows by the
/// properties of a class that extends ours.
#[repr(C)]
struct Object<T> {
    /// `None` until the constructor has run.
    value: Option<T>,
    std: ffi::zend_object,
}

impl<T: Native> Object<T> {
    /// # Safety
    ///
    /// `object` must be an object made by `create::<T>`.
    #[inline]
    unsafe fn of(object: *mut ffi::zend_object) -> *mut Self {
        // SAFETY: by contract `object` is the `std` of an Object<T>.
        unsafe { object.byte_sub(offset_of!(Self, std)).cast() }
    }
}

/// Whether an object carries a `T`: none of a class that `disable_classes` names does.
pub fn is_instance<T: Native>(object: *mut ffi::zend_object) -> bool {
    // SAFETY: a live object, as any argument of a call is.
    ptr::eq(unsafe { (*object).handlers }, T::handlers().0.load(Ordering::Relaxed))
}

/// The value of an object, if it has been constructed.
///
/// # Safety
///
/// `object` must be an object of a class that carries a `T`, or of one that extends it, and must not
/// be freed or constructed again while the reference lives: no call into PHP meanwhile.
#[inline]
pub unsafe fn value<'a, T: Native>(object: *mut ffi::zend_object) -> Option<&'a T> {
    // SAFETY: objects of the class are made by `create::<T>`; the rest by contract.
    unsafe { (*Object::<T>::of(object)).value.as_ref() }
}

/// Gives an object its value, in place of the one it may have.
///
/// # Safety
///
/// `object` must be an object of a class that carries a `T`, or of one that extends it, and no
/// reference to its value may be alive.
#[inline]
pub unsafe fn construct<T: Native>(object: *mut ffi::zend_object, value: T) {
    // SAFETY: by contract.
    let old = unsafe { (&raw mut (*Object::<T>::of(object)).value).replace(Some(value)) };
    // Last: it may hold the last reference to a PHP object, whose destructor may construct this object
    // once more, or free it.
    drop(old);
}

/// A new object of a class that carries a `T`, with its value.
#[inline]
pub fn new<T: Native>(class: &Class, value: T) -> *mut ffi::zend_object {
    // SAFETY: the entry is that of a registered class; the object is new.
    unsafe {
        let object = create::<T>(class.as_ptr());
        construct(object, value);
        object
    }
}

unsafe extern "C" fn create<T: Native>(class: *mut ClassEntry) -> *mut ffi::zend_object {
    // SAFETY: the engine passes the class to be instantiated, ours or one that extends it.
    // The memory has room for Object<T> and the class's properties; the value is written
    // before anyone can read it, and then the engine's part as every create_object does.
    unsafe {
        let object: *mut Object<T> =
            ffi::ext_php_rs_zend_object_alloc(size_of::<Object<T>>(), class).cast();
        (&raw mut (*object).value).write(None);
        let std = &raw mut (*object).std;
        ffi::zend_object_std_init(std, class);
        ffi::object_properties_init(std, class);
        (*std).handlers = T::handlers().0.load(Ordering::Relaxed);
        std
    }
}

unsafe extern "C" fn free<T: Native>(object: *mut ffi::zend_object) {
    // SAFETY: the engine frees each object once, and its memory after this call. From here on the
    // object has no value: what the destructors of its properties could still call would find none.
    let value = unsafe { (&raw mut (*Object::<T>::of(object)).value).replace(None) };
    // SAFETY: as above. The object leaves its WeakReferences here.
    unsafe { ffi::zend_object_std_dtor(object) };
    // Last: it may hold the last reference to a PHP object, whose destructor must not find this object.
    drop(value);
}

unsafe extern "C" fn debug_info<T: Native>(
    object: *mut ffi::zend_object,
    is_temporary: *mut i32,
) -> *mut ZendHashTable {
    // SAFETY: the engine passes a live object of ours and a place for the flag. The copy of
    // its properties is ours until it is returned as temporary, which has the engine free it.
    unsafe {
        *is_temporary = 1;
        let properties = ffi::zend_array_dup(ffi::zend_std_get_properties(object));
        let shown = std::panic::AssertUnwindSafe(|| {
            if let Some(value) = value::<T>(object) {
                value.dump(&mut *properties);
            }
        });
        // What cannot be shown is left out.
        let _ = std::panic::catch_unwind(shown);
        properties
    }
}

unsafe extern "C" fn references<T: Native>(
    object: *mut ffi::zend_object,
    table: *mut *mut Zval,
    count: *mut i32,
) -> *mut ZendHashTable {
    unsafe extern "C" {
        // Its header is not among those that ext-php-rs binds; the same from PHP 7.3 to 8.6.
        fn zend_std_get_gc(
            object: *mut ffi::zend_object,
            table: *mut *mut Zval,
            count: *mut i32,
        ) -> *mut ZendHashTable;
    }
    // SAFETY: the engine passes a live object of ours and places for the table and its length.
    // What it holds stays where it is as long as the object is not changed, and the engine only
    // looks at it. A property of a class that extends ours is in the object's own table.
    unsafe {
        let held = value::<T>(object).map_or(&[][..], T::gc_roots);
        if held.is_empty() {
            return zend_std_get_gc(object, table, count);
        }
        *table = held.as_ptr().cast_mut();
        *count = held.len() as i32;
        ffi::zend_std_get_properties(object)
    }
}
